"""How a part is judged: by the chapters' own checks, else beside the package, alike in weights."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from transformer.attention import MultiHeadAttention
from transformer.config import TransformerConfig
from transformer.embedding import TokenEmbedding
from transformer.feed_forward import PositionwiseFeedForward
from transformer.layers import DecoderLayer, EncoderLayer, ResidualNorm
from transformer.masks import causal_mask, padding_mask
from walkthrough.capstone import book
from walkthrough.capstone.slips import SLIPS, Slip, module_of
from walkthrough.capstone.weights import (
    CannotPlaceError,
    MissingError,
    Placing,
    State,
    placings,
    skeleton_names,
)
from walkthrough.ch02_scaled_dot_product_attention.checks import masked_attention
from walkthrough.ch03_masks.checks import decoding_mask
from walkthrough.ch04_multi_head_attention.checks import merge_heads, split_heads
from walkthrough.ch07_positional_encoding.checks import encoding
from walkthrough.ch08_residuals_and_layer_norm.checks import layer_norm
from walkthrough.checking import Arguments, Case, Check, Mistake, Verdict, arguments, fixed
from walkthrough.checking.base import NOTHING_YET
from walkthrough.doctor.loading import sized

D_MODEL, N_HEADS, D_FF, VOCAB = 24, 3, 40, 30
SMALL = TransformerConfig(
    vocab_size=VOCAB, d_model=D_MODEL, n_heads=N_HEADS, d_ff=D_FF, n_layers=2, dropout=0.1
)
Call = Callable[..., Any]


@dataclass(frozen=True)
class Kind:
    """How a class is built, what of the package it is compared with, and on which inputs."""

    sizes: tuple[Any, ...]
    ours: Callable[[], nn.Module]
    call_ours: Callable[[nn.Module], Call]
    cases: tuple[Case, ...]
    call: Callable[[nn.Module], Call] = lambda module: lambda *given: module(*given)

    @property
    def state(self) -> State:
        """The weights that both get."""
        return skeleton_names(self.ours().state_dict())


def _shaken(build: Callable[[], nn.Module]) -> Callable[[], nn.Module]:
    """Build a module of the package, with random numbers in all of its weights."""

    @cache
    def built() -> nn.Module:
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            torch.manual_seed(0)
            module = build().eval()
            for parameter in module.parameters():
                parameter.add_(0.2 * torch.randn(parameter.shape))
        return module

    return built


def _vectors(*lengths: int, batch: int = 2, mask: str = "") -> Callable[..., Arguments]:
    """Draw vectors of these lengths, and masks: "p" of padded keys, "c" the target's."""

    def make(generator: torch.Generator) -> Arguments:
        drawn: list[Any] = [
            torch.randn(batch, length, D_MODEL, generator=generator) for length in lengths
        ]
        for kind in mask:
            length = lengths[0] if kind == "c" else lengths[-1]
            tokens = torch.ones(batch, length, dtype=torch.long)
            tokens[-1, length - 1 - length // 3 :] = 0
            may = padding_mask(tokens)
            drawn.append(may & causal_mask(length) if kind == "c" else may)
        return arguments(*drawn)

    return make


def _with_open(query: int, key: int) -> Callable[..., Arguments]:
    def make(generator: torch.Generator) -> Arguments:
        q, k, v = (torch.randn(2, n, D_MODEL, generator=generator) for n in (query, key, key))
        return arguments(q, k, v, torch.ones(2, 1, 1, key, dtype=torch.bool))

    return make


def _with_sublayer(size: float) -> Callable[..., Arguments]:
    def make(generator: torch.Generator) -> Arguments:
        x = torch.randn(2, 5, D_MODEL, generator=generator)
        matrix = size * torch.randn(D_MODEL, D_MODEL, generator=generator)
        return arguments(x, lambda x: x @ matrix + size)

    return make


def _ids(generator: torch.Generator) -> Arguments:
    tokens = torch.randint(0, VOCAB, (2, 6), generator=generator)
    return arguments(tokens, torch.randn(2, 6, D_MODEL, generator=generator))


def _words_alone(generator: torch.Generator) -> Arguments:
    source, target = book.batch()
    return arguments(source[:1], target[:1])


KINDS: dict[str, Kind] = {
    "MultiHeadAttention": Kind(
        (D_MODEL, N_HEADS),
        _shaken(lambda: MultiHeadAttention(d_model=D_MODEL, n_heads=N_HEADS)),
        lambda ours: lambda *given: ours(*given)[0],
        (
            Case("4 queries, 6 keys, some of them padding", _vectors(4, 6, 6, mask="p")),
            Case("5 words that look at themselves, under a causal mask",
                 _vectors(5, 5, 5, mask="c")),
            Case("all keys open", _with_open(3, 5)),
        ),
    ),
    "FeedForward": Kind(
        (D_MODEL, D_FF),
        _shaken(lambda: PositionwiseFeedForward(d_model=D_MODEL, d_ff=D_FF)),
        lambda ours: ours,
        (Case("2 sentences of 5 words", _vectors(5)), Case("one word", _vectors(1, batch=1))),
    ),
    "TokenEmbedding": Kind(
        (VOCAB, D_MODEL),
        _shaken(lambda: TokenEmbedding(vocab_size=VOCAB, d_model=D_MODEL)),
        lambda ours: lambda ids, x: {"forward": ours(ids), "project": x @ ours.weight.T},
        (Case("2 sentences of 6 tokens, and 6 vectors to project", _ids),),
        lambda own: lambda ids, x: {"forward": own(ids), "project": own.project(x)},
    ),
    "ResidualNorm": Kind(
        (D_MODEL, 0.1),
        _shaken(lambda: ResidualNorm(SMALL)),
        lambda ours: ours,
        (
            Case("a sub-layer", _with_sublayer(0.5)),
            Case("a sub-layer that returns zeros", _with_sublayer(0.0)),
            Case("a sub-layer that returns large numbers", _with_sublayer(30.0)),
        ),
    ),
    "EncoderLayer": Kind(
        (D_MODEL, N_HEADS, D_FF, 0.1),
        _shaken(lambda: EncoderLayer(SMALL)),
        lambda ours: lambda *given: ours(*given)[0],
        (Case("2 sentences of 6 words, with padding", _vectors(6, mask="p")),
         Case("3 sentences of 1 word", _vectors(3, batch=1, mask="p"))),
    ),
    "DecoderLayer": Kind(
        (D_MODEL, N_HEADS, D_FF, 0.1),
        _shaken(lambda: DecoderLayer(SMALL)),
        lambda ours: lambda *given: ours(*given)[0],
        (Case("5 target and 7 source words, with padding", _vectors(5, 7, mask="cp")),
         Case("7 target and 4 source words", _vectors(7, 4, mask="cp"))),
    ),
    "Transformer": Kind(
        (),
        lambda: book.translator()[0],
        lambda ours: lambda source, target: _at_words(ours(source, target), target),
        (Case("one sentence", _words_alone),
         Case("two sentences, with padding", lambda _: arguments(*book.batch()))),
        lambda own: lambda source, target: _at_words(own(source, target), target),
    ),
}  # fmt: skip


def _at_words(logits: Any, target: Tensor) -> Any:
    fits = isinstance(logits, Tensor) and logits.shape[:2] == target.shape and logits.ndim == 3
    return logits * (target != 0)[..., None] if fits else logits


FUNCTIONS: dict[str, Check] = {
    "scaled_dot_product_attention": masked_attention,
    "padding_mask": Check(
        name="padding_mask",
        reference=padding_mask,
        cases=[
            fixed("sentences of different length", torch.tensor([[5, 9, 8, 2], [6, 2, 0, 0]])),
            fixed("one sentence without padding", torch.tensor([[4, 7, 9, 5, 2]])),
            fixed("three sentences", torch.tensor([[4, 2, 0], [5, 6, 2], [2, 0, 0]])),
        ],
        mistakes=[
            Mistake("True means hidden", lambda tokens: ~padding_mask(tokens),
                    "the mask is turned round: True means *may* attend, so words get True and "
                    "padding False."),
            Mistake("rows", lambda tokens: padding_mask(tokens).transpose(2, 3),
                    "the padding stands in the rows, which are queries. Keys are columns, the "
                    "last dimension: (batch, 1, 1, length)."),
        ],
        right="`padding_mask` is right",
    ),
    "causal_mask": decoding_mask,
    "split_heads": split_heads,
    "merge_heads": merge_heads,
    "positional_encoding": encoding,
    "layer_norm": layer_norm,
}  # fmt: skip


def judge(part: str, made: Any, mapping: Any = None) -> Verdict:
    """Judge one part of a reader's file: a function or a class, as it stands there."""
    if part in FUNCTIONS:
        return FUNCTIONS[part](made)
    kind, check = KINDS[part], class_check(part)
    try:
        module = _built(part, made)
        ways = _ways(part, module, mapping)
    except NotImplementedError:
        return NOTHING_YET
    except MissingError as error:
        return Verdict("wrong", f"the weights do not fit: {error}", "weights")
    except CannotPlaceError as error:
        said = "whether this is right cannot be told, since weights for it do not fit"
        return Verdict("wrong", f"{said}: {error}", "placing")
    except Exception as error:  # whatever a reader's code raises
        return Verdict("wrong", stopped(f"`{part}(…)`", error), "stops")
    first = None
    for way in ways:
        way.put(module, kind.state)
        verdict = check(kind.call(module))
        if verdict:
            return verdict
        first = verdict if first is None else first
    if len(ways) > 1 and first is not None:  # the order in which the weights stand is not known
        said = (
            "whether this is wrong cannot be told: its weights have no names of the skeleton, and "
            "in every order that was tried the numbers are others: "
        )
        return Verdict("wrong", said + first.message, "placing")
    return NOTHING_YET if first is None else first


def _built(part: str, made: Any) -> nn.Module:
    """Build a reader's class in the sizes of the check.

    Raises:
        TypeError: what comes back is no module.
    """
    sizes = sized(made, book_sizes()) if part == "Transformer" else {}
    with torch.random.fork_rng(devices=[]):
        module = made(*KINDS[part].sizes, **sizes)
    if not isinstance(module, nn.Module):
        raise TypeError(f"a torch.nn.Module is expected, got {type(module).__name__}")
    return module.eval()


def _ways(part: str, module: nn.Module, mapping: Any = None) -> list[Placing]:
    n_heads = book.config().n_heads if part == "Transformer" else N_HEADS
    try:
        return placings(module, KINDS[part].state, n_heads, mapping)
    except CannotPlaceError:  # a mapping may be made for the whole model alone
        if mapping and part != "Transformer":
            return placings(module, KINDS[part].state, n_heads)
        raise


def book_sizes() -> dict[str, Any]:
    """Return the trained model's sizes, by the words that the doctor knows parameters by."""
    config = book.config()
    return {"vocab": config.vocab_size, "d_model": config.d_model, "head": config.n_heads,
            "layer": config.n_layers, "ff": config.d_ff, "d_k": config.d_k, "len": 128}  # fmt: skip


@cache
def class_check(part: str) -> Check:
    """Return the check of a class: the package's module beside it, the slips as its mistakes."""
    kind = KINDS[part]
    reference = kind.call_ours(kind.ours())
    return Check(
        name=part,
        reference=torch.no_grad()(reference),
        cases=kind.cases,
        mistakes=[
            Mistake(slip.name, _slipped(slip), f"`{part}` forgets {slip.forgets}.")
            for slip in SLIPS
            if slip.part == part
        ],
        tolerance=1e-4,
        right=f"`{part}` is right: the numbers of the package's, with the same weights",
    )


def _slipped(slip: Slip) -> Call:
    @cache
    def module() -> nn.Module:
        made = _built(slip.part, getattr(module_of(slip), slip.part))
        state = KINDS[slip.part].state
        _ways(slip.part, made)[0].put(made, state)
        return made

    return lambda *given: KINDS[slip.part].call(module())(*given)


def stopped(what: str, error: BaseException) -> str:
    """Return the sentence on code that raises: what was called, where it stopped, its words."""
    trace, line = error.__traceback__, 0
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith((torch.__path__[0], __file__)):
            line = trace.tb_lineno
        trace = trace.tb_next
    words = f": {error}" if str(error) else ""
    return f"{what} stops with {type(error).__name__} in line {line}{words}"
