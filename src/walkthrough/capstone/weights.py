"""The book's weights in somebody's modules: by name, else by shape and place (§3)."""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

State = dict[str, Tensor]
_RENAMED = (
    (r"\blayers\.", ""),
    (r"\blayer_norm\.weight", "gain"),
    (r"\blayer_norm\.bias", "bias"),
    (r"^(source_embedding\.weight|target_embedding\.weight|output_weight)$", "embedding.weight"),
)
TEMPLATE = {
    "embedding": "embedding",
    "encoder": "encoder",
    "decoder": "decoder",
    "self_attention": "self_attention",
    "cross_attention": "cross_attention",
    "query_proj": "query_proj",
    "key_proj": "key_proj",
    "value_proj": "value_proj",
    "output_proj": "output_proj",
    "feed_forward": "feed_forward",
    "expand": "expand",
    "contract": "contract",
    "residuals.0": "residuals.0",
    "residuals.1": "residuals.1",
    "residuals.2": "residuals.2",
    "gain": "gain",
}
"""What a reader fills in, on the right: how the parts of a parameter's name are called there."""


class CannotPlaceError(ValueError):
    """The weights do not fit; the message says which are left over, with both shapes."""


class MissingError(CannotPlaceError):
    """A parameter with a name of the skeleton is missing."""


def skeleton_name(name: str) -> str:
    """Return what the skeleton calls a parameter of the package."""
    for pattern, by in _RENAMED:
        name = re.sub(pattern, by, name)
    return name


def skeleton_names(state: Mapping[str, Tensor]) -> State:
    """Return a state of the package under the names of the skeleton, each matrix once."""
    return {skeleton_name(name): tensor for name, tensor in state.items()}


@dataclass(frozen=True)
class Placing:
    """A way to put the book's tensors into somebody's parameters; `how` says which."""

    how: str
    put: Callable[[nn.Module, State], None]

    @torch.no_grad()
    def taken_out(self, module: nn.Module, like: State) -> State:
        """Return the book's tensors that hold what the module's parameters hold."""
        numbers, first = {}, 1  # 0 stands in what the book has not, such as an output's bias
        for name, tensor in like.items():  # each number of the book says where it is found
            numbers[name] = torch.arange(first, first + tensor.numel()).view_as(tensor)
            first += tensor.numel()
        held = [parameter.detach().clone() for parameter in module.parameters()]
        for parameter in module.parameters():
            parameter.data = torch.zeros_like(parameter, dtype=torch.float64)
        self.put(module, numbers)
        flat = torch.empty(first)
        for parameter, was in zip(module.parameters(), held, strict=True):
            places = parameter.detach().long()
            flat[places[places > 0]] = was[places > 0]
            parameter.data = was
        return {name: flat[number] for name, number in numbers.items()}


def placings(
    module: nn.Module, book: State, n_heads: int, mapping: Mapping[str, str] | None = None
) -> list[Placing]:
    """Return the ways in which the weights fit; where there are several, they have to be tried.

    Raises:
        CannotPlaceError: there is none.
    """
    own = dict(module.named_parameters())
    named = {_mapped(name, mapping or {}): name for name in book}
    if set(named) >= set(own) and all(own[n].shape == book[named[n]].shape for n in own):
        if missing := [n for n in named if n not in own]:
            if all(name.endswith("_proj.bias") for name in missing):
                raise CannotPlaceError(BIASES)
            raise MissingError(f"there is no `{missing[0]}`, which the book's model has")
        how = "by your mapping" if mapping else "by the names of the skeleton"
        return [Placing(how, lambda module, state: _by_name(module, state, named))]
    if mapping:
        unknown = sorted(set(own) - set(named)) or sorted(n for n in own if n in named)
        raise CannotPlaceError(
            f"by your `WEIGHTS` the parameter {unknown[0]!r} {tuple(own[unknown[0]].shape)} gets "
            f"nothing that fits; the book's are called {', '.join(sorted(named)[:4])} …"
        )
    return _by_place(module, book, n_heads)


def _mapped(name: str, mapping: Mapping[str, str]) -> str:
    if not mapping:
        return name
    parts = "|".join(map(re.escape, sorted(mapping, key=len, reverse=True)))
    return re.sub(rf"(?<![^.])(?:{parts})(?![^.])", lambda found: mapping[found[0]], name)


@torch.no_grad()
def _by_name(module: nn.Module, state: State, named: Mapping[str, str]) -> None:
    for name, parameter in module.named_parameters():
        parameter.copy_(state[named[name]])


# By shape and place ------------------------------------------------------------------------------


@dataclass(eq=False)
class _Unit:
    """A matrix with its bias, or a norm's gain and bias; `is_raw` where it is no `nn.Linear`."""

    weight: nn.Parameter
    bias: nn.Parameter | None
    is_raw: bool

    @torch.no_grad()
    def fill(self, weight: Tensor, bias: Tensor | None, *, turned: bool = False) -> None:
        """Copy both in; a matrix stands as it is, or turned where the shape or `turned` says so."""
        turns = turned and self.is_raw and self.weight.shape == weight.T.shape
        self.weight.copy_(weight.T if turns or self.weight.shape != weight.shape else weight)
        if self.bias is not None:
            self.bias.copy_(torch.zeros_like(self.bias) if bias is None else bias)


def _units(module: nn.Module) -> Iterator[_Unit]:
    """Yield the units in the order in which they were made; a tied matrix is one."""
    for owner in module.modules():
        own = [p for p in owner.parameters(recurse=False) if p.ndim in (1, 2)]
        matrices, vectors = ([p for p in own if p.ndim == n] for n in (2, 1))
        if matrices and len(vectors) in (0, len(matrices)):
            biases: list[Any] = vectors or [None] * len(matrices)
            raw = not isinstance(owner, nn.Linear)
            yield from (_Unit(m, b, raw) for m, b in zip(matrices, biases, strict=True))
        elif len(vectors) == 2 and not matrices:
            yield _Unit(vectors[0], vectors[1], True)
        elif own:
            said = f"{len(matrices)} matrices and {len(vectors)} vectors"
            raise CannotPlaceError(f"`{type(owner).__name__}` has {said}: which belong together?")


ROLES = {
    "attention": ("query_proj", "key_proj", "value_proj", "output_proj"),
    "network": ("expand", "contract"),
    "norm": ("gain",),
}


def _stems(book: State, role: str) -> list[str]:
    """Return the names of the book's modules of one role, in the order of Figure 1."""
    order = ["encoder", "decoder", "self_attention", "cross_attention", *ROLES[role]]
    at = {name: i for i, name in enumerate(order)}

    def place(stem: str) -> tuple[int, ...]:
        return tuple(int(p) if p.isdigit() else at.get(p, 0) for p in stem.split("."))

    if role == "norm":
        return sorted((n.removesuffix("gain") for n in book if n.endswith("gain")), key=place)
    ends = tuple(f"{name}.weight" for name in ROLES[role])
    return sorted((n.removesuffix("weight") for n in book if n.endswith(ends)), key=place)


def _pair(state: State, stem: str) -> tuple[Tensor, Tensor | None]:
    weight = state[f"{stem}gain" if f"{stem}gain" in state else f"{stem}weight"]
    return weight, state.get(f"{stem}bias")


def _by_place(module: nn.Module, book: State, n_heads: int) -> list[Placing]:
    stems = {role: _stems(book, role) for role in ROLES}
    units = list(_units(module))
    table = next((t.shape for n, t in book.items() if n in ("embedding.weight", "weight")), None)
    wide = {book[f"{stem}weight"].shape for stem in stems["network"]}
    kinds: dict[str, list[int]] = {"attention": [], "network": [], "norm": [], "table": []}
    for i, unit in enumerate(units):
        shape = unit.weight.shape
        is_network = shape in wide or shape[::-1] in wide
        rest = "network" if is_network else "norm" if len(shape) == 1 else "attention"
        kinds["table" if shape == table else rest].append(i)
    for role in ("network", "norm"):
        if len(kinds[role]) != len(stems[role]):
            raise CannotPlaceError(_counts(role, len(stems[role]), len(kinds[role])))
    if table is not None and not kinds["table"]:
        raise CannotPlaceError(f"no matrix has the embedding's shape, {tuple(table)}")
    if any(units[i].bias is None for i in (*kinds["attention"], *kinds["network"])):
        raise CannotPlaceError(BIASES)
    looks = _looks(stems["attention"])
    rows = _rows([units[i] for i in kinds["attention"]], book, stems["attention"])
    ways = itertools.product(
        itertools.permutations(range(3)) if looks else [(0, 1, 2)],
        [looks, *([_exchanged(looks)] if len(looks) > 1 else [])],
        [False, True] if any(units[i].is_raw for i in kinds["attention"]) else [False],
        [None] if len(set(rows)) <= 1 else [None, rows[-1] // n_heads],  # also head by head
    )

    def placing(order: Any, attentions: Any, turned: bool, head: int | None) -> Placing:
        def put(to: nn.Module, state: State) -> None:
            mine = list(_units(to))
            for i in kinds["table"]:
                mine[i].fill(next(t for t in state.values() if t.shape == table), None)
            for role in ("network", "norm"):
                for i, stem in zip(kinds[role], stems[role], strict=True):
                    mine[i].fill(*_pair(state, stem))
            per = len(kinds["attention"]) // max(1, len(attentions))
            for k, four in enumerate(attentions):
                own = [mine[i] for i in kinds["attention"][k * per : k * per + per]]
                pairs = [_pair(state, four[j]) for j in (*order, 3)]
                _fill_attention(own, pairs, turned, head)

        return Placing("by shape and place", put)

    return [placing(*way) for way in ways]


BIASES = (
    "the book's weights have a bias with each matrix of attention and feed-forward network, and "
    "yours has not"
)


def _counts(role: str, wanted: int, got: int) -> str:
    names = {"network": "matrices of feed-forward networks", "norm": "norms"}
    return f"the book's model has {wanted} {names[role]} here, yours has {got}"


def _looks(stems: list[str]) -> list[list[str]]:
    return [stems[i : i + 4] for i in range(0, len(stems), 4)]


def _exchanged(looks: list[list[str]]) -> list[list[str]]:
    """Return the attentions with a decoder layer's two in the other order."""
    encoder = [four for four in looks if four[0].startswith("encoder.")]
    decoder = looks[len(encoder) :]
    return [*encoder, *(decoder[i ^ 1] for i in range(len(decoder)))]


def _rows(units: list[_Unit], book: State, stems: list[str]) -> list[int]:
    """Return how many rows each unit holds of the attentions' matrices.

    Raises:
        CannotPlaceError: they do not add up.
    """
    if not stems:
        if units:
            raise CannotPlaceError(f"nothing of the book's fits {tuple(units[0].weight.shape)}")
        return []
    size = book[f"{stems[0]}weight"].shape[1]
    rows = [u.weight.numel() // size for u in units if size in u.weight.shape]
    n_looks = len(stems) // 4
    if len(rows) < len(units) or len(units) % n_looks or sum(rows) != 4 * size * n_looks:
        shapes = sorted({tuple(u.weight.shape) for u in units})
        raise CannotPlaceError(
            f"the book's {n_looks} attentions have four matrices of {size} × {size} each; yours "
            f"have {len(units)} matrices, of {', '.join(map(str, shapes))}"
        )
    return rows


def _fill_attention(
    units: list[_Unit], pairs: list[tuple[Tensor, Tensor | None]], turned: bool, head: int | None
) -> None:
    """Hand the rows of queries, keys and values on in order; what is made last mixes the heads."""
    weight = torch.cat([pair[0] for pair in pairs[:3]])
    bias = torch.cat([torch.zeros(len(w)) if b is None else b for w, b in pairs[:3]])
    if head is not None:
        rows = torch.arange(len(weight)).view(3, -1, head).transpose(0, 1).flatten()
        weight, bias = weight[rows], bias[rows]
    *inputs, output = units
    first = 0
    for unit in inputs:
        n = unit.weight.numel() // weight.shape[1]
        some = slice(first, first + n)
        unit.fill(weight[some], bias[some], turned=turned)
        first += n
    output.fill(*pairs[3], turned=turned)
