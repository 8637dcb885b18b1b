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
PARTS_OF_NAMES = (
    *("embedding", "encoder", "decoder", "self_attention", "cross_attention", "query_proj"),
    *("key_proj", "value_proj", "output_proj", "feed_forward", "expand", "contract"),
    *("residuals.0", "residuals.1", "residuals.2", "gain"),
)
"""Of which a reader may write down how they are called in the file."""
BIASES = (
    "the book's weights have a bias with each matrix of attention and feed-forward network, and "
    "yours has not"
)
COUNTS = {"network": "matrices of feed-forward networks", "norm": "norms"}
ROLES = {
    "attention": ("query_proj", "key_proj", "value_proj", "output_proj"),
    "network": ("expand", "contract"),
    "norm": ("gain",),
}


class CannotPlaceError(ValueError):
    """The weights do not fit; the message says which are left over, with both shapes."""


class MissingError(CannotPlaceError):
    """A parameter with a name of the skeleton is missing."""


def mapping_to_fill_in() -> str:
    """Return the lines in which a reader says how the parts of a parameter's name are called."""
    rows = "".join(f'    "{name}": "{name}",\n' for name in PARTS_OF_NAMES)
    return f"Write into your file, with your own names on the right:\n\nWEIGHTS = {{\n{rows}}}"


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

        @torch.no_grad()
        def by_name(to: nn.Module, state: State) -> None:
            for name, parameter in to.named_parameters():
                parameter.copy_(state[named[name]])

        return [Placing("by your mapping" if mapping else "by the names of the skeleton", by_name)]
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


def _stems(book: State, role: str) -> list[str]:
    """Return the names of the book's modules of one role, in the order of Figure 1."""
    order = ["encoder", "decoder", "self_attention", "cross_attention", *ROLES[role]]
    at = {name: i for i, name in enumerate(order)}
    end = "gain" if role == "norm" else "weight"
    ends = ("gain",) if role == "norm" else tuple(f"{name}.weight" for name in ROLES[role])

    def place(stem: str) -> tuple[int, ...]:
        return tuple(int(p) if p.isdigit() else at.get(p, 0) for p in stem.split("."))

    return sorted((n.removesuffix(end) for n in book if n.endswith(ends)), key=place)


def _pair(state: State, stem: str) -> tuple[Tensor, Tensor | None]:
    weight = state[f"{stem}gain" if f"{stem}gain" in state else f"{stem}weight"]
    return weight, state.get(f"{stem}bias")


def _by_place(module: nn.Module, book: State, n_heads: int) -> list[Placing]:
    stems = {role: _stems(book, role) for role in ROLES}
    table = next((t.shape for n, t in book.items() if n in ("embedding.weight", "weight")), None)
    kinds = _kinds(list(_units(module)), book, stems, table)
    rows = _rows(kinds["attention"], book, stems["attention"])
    looks = [stems["attention"][i : i + 4] for i in range(0, len(stems["attention"]), 4)]
    encoder = [four for four in looks if four[0].startswith("encoder.")]
    decoder = looks[len(encoder) :]
    several = len(looks) > 1
    exchanged = [*encoder, *(decoder[i ^ 1] for i in range(len(decoder) * several))]
    ways = itertools.product(
        itertools.permutations(range(3)) if looks else [(0, 1, 2)],
        [looks, *[exchanged] * several],  # a decoder layer's two, turned round
        [False, True] if any(unit.is_raw for unit in kinds["attention"].values()) else [False],
        [None] if len(set(rows)) <= 1 else [None, rows[-1] // n_heads],  # also head by head
    )

    def placing(order: Any, attentions: Any, turned: bool, head: int | None) -> Placing:
        def put(to: nn.Module, state: State) -> None:
            mine = list(_units(to))
            for i in kinds["table"]:
                mine[i].fill(next(t for t in state.values() if t.shape == table), None)
            for role in COUNTS:
                for i, stem in zip(kinds[role], stems[role], strict=True):
                    mine[i].fill(*_pair(state, stem))
            own, per = [*kinds["attention"]], len(kinds["attention"]) // max(1, len(attentions))
            for k, four in enumerate(attentions):
                pairs = [_pair(state, four[j]) for j in (*order, 3)]
                _fill([mine[i] for i in own[k * per : k * per + per]], pairs, turned, head)

        return Placing("by shape and place", put)

    return [placing(*way) for way in ways]


def _kinds(
    units: list[_Unit], book: State, stems: dict[str, list[str]], table: torch.Size | None
) -> dict[str, dict[int, _Unit]]:
    """Return which units play which role, with their places.

    Raises:
        CannotPlaceError: of one role there are others than the book has.
    """
    wide = {book[f"{stem}weight"].shape for stem in stems["network"]}
    kinds: dict[str, dict[int, _Unit]] = {role: {} for role in (*ROLES, "table")}
    for i, unit in enumerate(units):
        shape = unit.weight.shape
        is_network = shape in wide or shape[::-1] in wide
        rest = "network" if is_network else "norm" if len(shape) == 1 else "attention"
        kinds["table" if shape == table else rest][i] = unit
    for role, names in COUNTS.items():
        if (got := len(kinds[role])) != (wanted := len(stems[role])):
            raise CannotPlaceError(f"the book's model has {wanted} {names} here, yours has {got}")
    if table is not None and not kinds["table"]:
        raise CannotPlaceError(f"no matrix has the embedding's shape, {tuple(table)}")
    if any(one.bias is None for role in ("attention", "network") for one in kinds[role].values()):
        raise CannotPlaceError(BIASES)
    return kinds


def _rows(units: dict[int, _Unit], book: State, stems: list[str]) -> list[int]:
    """Return how many rows each unit holds of the attentions' matrices.

    Raises:
        CannotPlaceError: they do not add up.
    """
    shapes = [tuple(unit.weight.shape) for unit in units.values()]
    if not stems and units:
        raise CannotPlaceError(f"nothing of the book's fits {shapes[0]}")
    if not stems:
        return []
    size, n_looks = book[f"{stems[0]}weight"].shape[1], len(stems) // 4
    rows = [u.weight.numel() // size for u in units.values() if size in u.weight.shape]
    if len(rows) < len(units) or len(units) % n_looks or sum(rows) != 4 * size * n_looks:
        raise CannotPlaceError(
            f"the book's {n_looks} attentions have four matrices of {size} × {size} each; yours "
            f"have {len(units)} matrices, of {', '.join(map(str, sorted({*shapes})))}"
        )
    return rows


def _fill(
    units: list[_Unit], pairs: list[tuple[Tensor, Tensor | None]], turned: bool, head: int | None
) -> None:
    """Hand the rows of queries, keys and values on in order; what is made last mixes the heads."""
    weight = torch.cat([pair[0] for pair in pairs[:3]])
    bias = torch.cat([torch.zeros(len(w)) if b is None else b for w, b in pairs[:3]])
    if head is not None:
        rows = torch.arange(len(weight)).view(3, -1, head).transpose(0, 1).flatten()
        weight, bias = weight[rows], bias[rows]
    *inputs, output = units
    for unit in inputs:
        n = unit.weight.numel() // weight.shape[1]
        unit.fill(weight[:n], bias[:n], turned=turned)
        weight, bias = weight[n:], bias[n:]
    output.fill(*pairs[3], turned=turned)
