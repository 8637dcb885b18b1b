"""The check of chapter 03 on leak detectors: they are tried on models that leak and that do not.

Each case is a small "model" from ids to outputs, made so that one kind of detector overlooks its
leak, or raises a false alarm. The models stand in `suspects`, the wrong detectors here.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from walkthrough.ch03_masks.checks.suspects import CASES, WHY, Suspect
from walkthrough.checking.base import Arguments, Check, Mistake, Symptom

Model = Callable[[Tensor], Tensor]
Detector = Callable[[Model, Tensor, int], bool]
Changed = Callable[[Tensor, int, int], Tensor]
TOLERANCE = 1e-6
_SEED = torch.default_generator.manual_seed  # `torch.manual_seed` does much more, and is slow


def _next_id(tokens: Tensor, position: int, vocab_size: int) -> Tensor:
    other = tokens.clone()
    other[:, position] = (other[:, position] + 1) % vocab_size
    return other


def _always(write: Callable[[int], int]) -> Changed:
    def change(tokens: Tensor, position: int, vocab_size: int) -> Tensor:
        other = tokens.clone()
        other[:, position] = write(vocab_size)
        return other

    return change


def _no_modulo(tokens: Tensor, position: int, vocab_size: int) -> Tensor:
    other = tokens.clone()
    other[:, position] += 1
    return other


def _first_sentences_next_id(tokens: Tensor, position: int, vocab_size: int) -> Tensor:
    other = tokens.clone()
    other[:, position] = (other[0, position] + 1) % vocab_size
    return other


def _no_clone(tokens: Tensor, position: int, vocab_size: int) -> Tensor:
    tokens[:, position] = (tokens[:, position] + 1) % vocab_size
    return tokens


def _before(outputs: Tensor, position: int) -> Tensor:
    return outputs[:, :position]


def _moves(before: Tensor, after: Tensor) -> bool:
    return bool(((after - before).abs() > TOLERANCE).any())


def _above(tolerance: float) -> Callable[[Tensor, Tensor], bool]:
    return lambda before, after: bool(((after - before).abs() > tolerance).any())


def _detector(
    *,
    positions: Callable[[int], range] = lambda length: range(1, length),
    compared: Callable[[Tensor, int], Tensor] = _before,
    change: Changed = _next_id,
    moves: Callable[[Tensor, Tensor], bool] = _moves,
    seeded: bool = True,
    inverted: bool = False,
) -> Detector:
    """Return a detector that changes the tokens at `positions` and looks at `compared` outputs."""

    def run(model: Model, tokens: Tensor) -> Tensor:
        if seeded:
            _SEED(0)
        return model(tokens)

    def has_leak(model: Model, tokens: Tensor, vocab_size: int) -> bool:
        before = run(model, tokens)
        for position in positions(tokens.shape[1]):
            after = run(model, change(tokens, position, vocab_size))
            if moves(compared(before, position), compared(after, position)):
                return not inverted
        return inverted

    return has_leak


def _shortens(model: Model, tokens: Tensor, vocab_size: int) -> bool:
    _SEED(0)
    before = model(tokens)
    for length in range(1, tokens.shape[1]):
        _SEED(0)
        if _moves(before[:, :length], model(tokens[:, :length])):
            return True
    return False


def _kind_is_missed(kind: str) -> Symptom:
    def shows(result: bool, expected: bool, given: Arguments) -> bool:
        model: Suspect = given.positional[0]
        return model.kind == kind and bool(result) != bool(expected)

    return Symptom(kind, shows, WHY[kind])


_SAME_ID = (
    "the id that you write may be the one that stands there already: so it is if you always "
    "write {}, or draw it at random. Then nothing is changed and the leak stays hidden. Make the "
    "new id from the old one, such as `(old + 1) % vocab_size`."
)

has_leak = Check(
    name="has_leak",
    reference=_detector(),
    cases=CASES,
    mistakes=[
        Mistake(
            "changed position compared",
            _detector(compared=lambda outputs, position: outputs[:, : position + 1]),
            "a leak is reported for every model, the sound ones too. Two runs must differ in one "
            "token only, and the output at that position may move: a position sees its own "
            "input. Compare the outputs *before* it, `[:, :position]`.",
        ),
        Mistake(
            "no clone",
            _detector(change=_no_clone),
            "you change `tokens` itself, so changes pile up: at the third position the first two "
            "differ as well, their own outputs move, and a sound model is reported. Change a "
            "copy, `tokens.clone()`, at each position.",
        ),
        Mistake(
            "future compared",
            _detector(compared=lambda outputs, position: outputs[:, position + 1 :]),
            "the wrong side: positions *after* the changed one are compared. They are meant to "
            "move. A leak shows before it.",
        ),
        Mistake(
            "no seed",
            _detector(seeded=False),
            "right without dropout. With dropout a sound model is reported: two runs draw "
            "different random numbers, so everything moves. Call `torch.manual_seed` with the same "
            "number before *each* run.",
        ),
        Mistake(
            "sentences shortened",
            _shortens,
            "right without dropout. You compare with shorter sentences: an idea that works, but "
            "for another shape the same seed draws other random numbers, so with dropout a sound "
            "model is reported. Keep the length, and change the tokens.",
        ),
        Mistake(
            "last token only",
            _detector(positions=lambda length: range(length - 1, length)),
            "only the last token is changed. A model in which position 0 sees position 1 passes "
            "for sound. Change each position in turn.",
        ),
        Mistake(
            "last position forgotten",
            _detector(positions=lambda length: range(1, length - 1)),
            "the last token is never changed, so a leak from there stays hidden. Does your loop "
            "end one position early?",
        ),
        Mistake(
            "first change only",
            _detector(positions=lambda length: range(1, 2)),
            "only position 1 is ever changed. Does a `return` inside the loop end it in the first "
            "round? Return True where you find a leak, and False after the loop.",
        ),
        Mistake(
            "first row only",
            _detector(compared=lambda outputs, position: outputs[:, : min(position, 1)]),
            "only the output of position 0 is compared. A leak between later positions stays "
            "hidden: compare all positions before the change, `[:, :position]`.",
        ),
        Mistake(
            "neighbour only",
            _detector(
                compared=lambda outputs, position: outputs[:, max(position - 1, 0) : position]
            ),
            "only the position right before the change is compared. A leak over a longer distance "
            "stays hidden: here position 0 sees the last one.",
        ),
        Mistake(
            "one sentence only",
            _detector(compared=lambda outputs, position: outputs[:1, :position]),
            "only the first sentence of the batch is changed, or only the first is compared. Here "
            "the second one leaks.",
        ),
        Mistake(
            "tolerance of 1e-4 or more",
            _detector(moves=_above(1e-4)),
            "a faint leak passes: an output that moves by 5e-5 has seen the future too. Rounding "
            "moves outputs by less than 1e-6, so allow for that and no more.",
        ),
        Mistake(
            "exact equality",
            _detector(moves=lambda before, after: not torch.equal(before, after)),
            "no rounding is allowed for: a sound model whose outputs differ by 2e-7 from run to "
            "run is reported. Count a difference only above 1e-6. (`allclose` as it comes allows "
            "1e-8 near zero, which is less than rounding: say `atol=1e-6`.)",
        ),
        Mistake(
            "no absolute value",
            _detector(moves=lambda before, after: bool((after - before > TOLERANCE).any())),
            "only outputs that grow are noticed. A leak may as well make them smaller: take "
            "`.abs()` of the difference before you look for the largest.",
        ),
        Mistake(
            "no absolute value, the other way round",
            _detector(moves=lambda before, after: bool((before - after > TOLERANCE).any())),
            "only outputs that shrink are noticed. A leak may as well make them larger: take "
            "`.abs()` of the difference before you look for the largest.",
        ),
        Mistake(
            "mean of the difference",
            _detector(
                moves=lambda before, after: bool((after - before).mean().abs() > TOLERANCE),
            ),
            "differences of opposite sign cancel in your mean or sum, and a leak disappears. Take "
            "`.abs()` first, of each number.",
        ),
        Mistake("always id 0", _detector(change=_always(lambda size: 0)), _SAME_ID.format("0")),
        Mistake("always id 1", _detector(change=_always(lambda size: 1)), _SAME_ID.format("1")),
        Mistake(
            "always the last id",
            _detector(change=_always(lambda size: size - 1)),
            _SAME_ID.format("`vocab_size - 1`"),
        ),
        Mistake(
            "past the vocabulary",
            _detector(change=_no_modulo),
            "the last id of the vocabulary has no next one: you write `vocab_size`, and the model "
            "stops. Begin again at 0, with `% vocab_size`.",
        ),
        Mistake(
            "answers inverted",
            _detector(inverted=True),
            "the answer is inverted: True is asked for when there *is* a leak.",
        ),
        Mistake(
            "never",
            lambda model, tokens, vocab_size: False,
            "no model is ever reported. A detector that cannot find a leak is none. Is the changed "
            "token different from the old one? Do you change a copy, and not the tokens of both "
            "runs? Do you change every position, not only the first, which has nothing before it?",
        ),
        Mistake(
            "one new id for all sentences",
            _detector(change=_first_sentences_next_id),
            "every sentence gets the same new id, made from the token of the first. Another "
            "sentence may hold that id already. Make it from each sentence's own token, "
            "`(old + 1) % vocab_size` for the whole column.",
        ),
        Mistake(
            "all must move",
            _detector(moves=lambda before, after: bool(((after - before).abs() > TOLERANCE).all())),
            "you ask whether *all* outputs before the change move. One that moves is a leak: "
            "`.any()`, or the largest difference.",
        ),
    ],
    symptoms=[_kind_is_missed(kind) for kind in WHY],
    right="`has_leak` is right: it finds leaks at every distance, however faint, and neither "
    "dropout nor rounding fools it",
)
