"""The checks of chapter 22: what a cache holds, what a pass writes, a memory that corrects."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from walkthrough.checking import Check, Mistake, drawn, fixed

# Exercise: windows in some layers ----------------------------------------------------------------

Layers = Sequence[tuple[int, int, int | None]]


def _kept_with(seen: Callable[[int, int | None], int], both: int = 2) -> Callable[..., int]:
    return lambda n_words, layers, n_bytes: (
        sum(both * h * d * seen(n_words, window) for h, d, window in layers) * n_bytes
    )


def _within(n_words: int, window: int | None) -> int:
    return n_words if window is None else min(n_words, window)


_kept = _kept_with(_within)


kept = Check(
    name="kept",
    reference=_kept,
    cases=[
        fixed("five of six layers with a window", 5000, [(4, 256, 1024)] * 5 + [(4, 256, None)], 2),
        fixed("a text shorter than the window", 100, [(8, 128, 4096)] * 3, 2),
        fixed("no words", 0, [(2, 8, None), (4, 16, 3)], 4),
        fixed("layers that differ", 10, [(2, 8, None), (4, 16, 3), (1, 32, 10)], 1),
        fixed("a window of 0", 7, [(2, 8, 0), (3, 5, None)], 2),
    ],
    mistakes=[
        Mistake(
            "window ignored",
            _kept_with(lambda n_words, window: n_words),
            "a layer with a window is counted as if it kept everything. It keeps its last "
            "`window` words.",
        ),
        Mistake(
            "window always full",
            _kept_with(lambda n_words, window: n_words if window is None else window),
            "a window is counted full when fewer words were read. It holds no more than there are.",
        ),
        Mistake(
            "one of two",
            _kept_with(_within, both=1),
            "each head keeps a key *and* a value: you count one of them.",
        ),
        Mistake(
            "a window of 0 taken for none",
            _kept_with(lambda n_words, window: min(n_words, window or n_words)),
            "a window of 0 words is taken for no window. `None` means none; 0 is a number.",
        ),
        Mistake(
            "all layers like the first",
            lambda n_words, layers, n_bytes: _kept(n_words, layers[:1] * len(layers), n_bytes),
            "all layers are counted like the first one. They may differ.",
        ),
    ],
)


# Exercise: what a pass writes --------------------------------------------------------------------


def _written(guessed: list[int], best: list[int]) -> list[int]:
    for place, word in enumerate(guessed):
        if word != best[place]:
            return best[: place + 1]
    return best[: len(guessed) + 1]


written = Check(
    name="written",
    reference=_written,
    cases=[
        fixed("all guesses right", [5, 6, 7], [5, 6, 7, 8]),
        fixed("the first guess wrong", [4, 6, 7], [5, 6, 7, 8]),
        fixed("a wrong guess between right ones", [5, 9, 7, 8], [5, 6, 7, 8, 3]),
        fixed("no guesses", [], [5]),
        fixed("the same word again and again", [2, 2, 2], [2, 2, 3, 2]),
    ],
    mistakes=[
        Mistake(
            "guesses only",
            lambda guessed, best: _written(guessed, best)[:-1],
            "the model's own word is missing: behind the last right guess its pass has said, "
            "for nothing, which word comes.",
        ),
        Mistake(
            "right ones after a wrong one",
            lambda guessed, best: (
                [b for g, b in zip(guessed, best, strict=False) if g == b] + best[len(guessed) :]
            ),
            "guesses behind a wrong one are kept. They were judged behind a word that is gone.",
        ),
        Mistake(
            "all of the model's words",
            lambda guessed, best: list(best),
            "you take all of the model's words. Those behind a wrong guess answer a sentence "
            "that is not written.",
        ),
        Mistake(
            "nothing extra when all are right",
            lambda guessed, best: _written(guessed, best)[: len(guessed)],
            "when every guess is right there is one word more: the pass looked behind the last "
            "guess as well.",
        ),
        Mistake(
            "the wrong guess itself",
            lambda guessed, best: [*guessed, best[-1]][: len(_written(guessed, best))],
            "the wrong guess is written. In its place stands the model's word.",
        ),
    ],
)


# Exercise: a memory that corrects ----------------------------------------------------------------


def _corrected(state: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return state + torch.outer(key, value - key @ state)


_UNIT = torch.tensor([0.6, 0.8, 0.0])
_STATE = torch.tensor([[1.0, -2.0], [0.5, 3.0], [7.0, -60.0]])

corrected = Check(
    name="corrected",
    reference=_corrected,
    cases=[
        fixed("an empty state", torch.zeros(3, 2), _UNIT, torch.tensor([2.0, -1.0])),
        fixed("a state that answers already", _STATE, _UNIT, _UNIT @ _STATE),
        fixed("a key that it does not know", _STATE * torch.tensor([[0.0], [0.0], [1.0]]), _UNIT,
              torch.tensor([60.0, -60.0])),
        fixed("another answer than the new one", _STATE, _UNIT, torch.tensor([0.0, 5.0])),
        drawn("a square state", (4, 4), torch.tensor([0.5, -0.5, 0.5, 0.5]), (4,)),
    ],
    mistakes=[
        Mistake(
            "adds",
            lambda state, key, value: state + torch.outer(key, value),
            "the fact is added to what the state answers already. Write the difference only.",
        ),
        Mistake(
            "empties",
            lambda state, key, value: torch.outer(key, value),
            "everything that was there is gone. Facts with other keys have to stay.",
        ),
        Mistake(
            "adds the old answer",
            lambda state, key, value: state + torch.outer(key, value + key @ state),
            "the old answer is added once more. It has to be taken away.",
        ),
        Mistake(
            "only forgets",
            lambda state, key, value: state - torch.outer(key, key @ state),
            "`key` gets no answer any more: the old one is taken away, and the new value is not "
            "written, or wiped as well. Take away first, then write.",
        ),
    ],
)  # fmt: skip
