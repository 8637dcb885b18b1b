"""The operations of a right solution, one of them replaced: softmax elsewhere, no ReLU, a sum.

A solution is run with an operation of PyTorch exchanged for another. A result that comes out equal
tells which operation the reader's function has in its place.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode

from walkthrough.checking.relations.arguments import Trials
from walkthrough.checking.sentences import listed

Replaced = Callable[..., Any]
Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]

_UNARY: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "gelu": F.gelu,
    "silu": F.silu,
    "exp": torch.exp,
    "abs": torch.abs,
    "square": torch.square,
    "sqrt": torch.sqrt,
    "log": torch.log,
    "softmax": lambda x: x.softmax(-1),
}
_ALONG = ("softmax", "log_softmax", "sum", "mean", "var", "std", "max", "min", "argmax", "cumsum")
_FOR_ANOTHER = {
    "mean": ("sum", "amax", "median"),
    "sum": ("mean", "prod"),
    "max": ("min",),
    "amax": ("amin",),
    "argmax": ("argmin",),
    "var": ("std",),
    "std": ("var",),
    "softmax": ("log_softmax",),
    "log_softmax": ("softmax",),
}


class _Exchange(TorchFunctionMode):
    """Replaces calls of one operation, all of them or the one with a number."""

    def __init__(self, names: Sequence[str], replaced: Replaced, number: int | None = None) -> None:
        super().__init__()
        self.names, self.replaced, self.number, self.seen = names, replaced, number, 0

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if _name(func) in self.names:
            self.seen += 1
            if self.number in (None, self.seen):
                return self.replaced(func, args, kwargs)
        return func(*args, **kwargs)


class _Listen(TorchFunctionMode):
    """Notes the operations that a solution uses, and how often."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: dict[str, int] = {}

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        self.calls[_name(func)] = self.calls.get(_name(func), 0) + 1
        return func(*args, **(kwargs or {}))


def _name(func: Any) -> str:
    name = str(getattr(func, "__name__", "")).strip("_")
    return name.removesuffix("_copy").rstrip("_")


def operation_relation(trials: Trials, reference: Callable[..., Any]) -> str | None:
    """Return with which operation exchanged a solution gives the reader's results, or None."""
    trials.restart()
    for say, changed in exchanges(trials, reference):
        if not trials.in_time:
            return None
        if trials.fits(changed):
            return f"your result is the right one {say}"
    return None


def exchanges(
    trials: Trials, reference: Callable[..., Any]
) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield solutions with one operation exchanged, and the words for it."""
    listen = _Listen()
    for case in trials.order[:2]:
        with listen:
            trials.outcome(reference, trials.inputs[case])
    dims = _dims(trials.outcomes)
    along = [name for name in listen.calls if name in ("mean", "var", "std", "sum", "amax", "max")]
    if len(along) > 1:
        for dim in range(-1, -dims - 1, -1):
            say = f"if {listed([f'`{name}`' for name in along])} run over {_dim_said(dim)}"
            yield say, _with(reference, along, _along(dim))
        said = f"if {listed([f'`{name}`' for name in along])} run over all dimensions at once"
        yield said, _with(reference, along, _over_everything)
    for name, count in listen.calls.items():
        for say, replaced in _replacements(name, dims):
            yield say, _with(reference, name, replaced)
            if 2 <= count <= 8:
                for number in range(1, min(count // 2, 3) + 1):
                    which = ("first", "second", "third")[number - 1]
                    yield (
                        f"{say}, the {which} time that it is used",
                        _with(reference, name, replaced, number),
                    )


def _dims(outcomes: Sequence[Any]) -> int:
    return max((x.dim() for x in outcomes if isinstance(x, Tensor)), default=2)


def _with(
    reference: Callable[..., Any],
    name: str | Sequence[str],
    replaced: Replaced,
    number: int | None = None,
) -> Callable[..., Any]:
    def changed(*given: Any) -> Any:
        with _Exchange((name,) if isinstance(name, str) else name, replaced, number):
            return reference(*given)

    return changed


def _replacements(name: str, dims: int) -> Iterator[tuple[str, Replaced]]:
    if name in (*_UNARY, "log_softmax", "layer_norm", "dropout", "normalize"):
        yield f"without `{name}`", lambda func, args, kwargs: args[0]
    if name in _UNARY:
        for other, step in _UNARY.items():
            if other != name:
                yield f"with `{other}` in the place of `{name}`", _unary(step)
    if name in _ALONG:
        for dim in range(-1, -dims - 2, -1):
            yield f"if `{name}` runs over {_dim_said(dim)}", _along(dim)
        yield f"if `{name}` runs over all dimensions at once", _over_everything
    if name in ("var", "std"):
        yield f"if `{name}` divides by n − 1", _correction(1)
        yield f"if `{name}` divides by n", _correction(0)
    for other in _FOR_ANOTHER.get(name, ()):
        yield f"with `{other}` in the place of `{name}`", _named(other)
    if name == "masked_fill":
        for value, said in ((0.0, "0"), (1.0, "1"), (-1e4, "−1e4"), (-1e9, "−1e9")):
            yield f"if masked places get {said}", _filled(value)
        yield "if the other places are masked", _filled_elsewhere
    if name in ("add", "sub"):
        what = {"add": "sum", "sub": "difference"}[name]
        yield f"if every {what} keeps its first part only", lambda func, args, kwargs: args[0]
        yield f"if every {what} keeps its second part only", lambda func, args, kwargs: args[1]


def _dim_said(dim: int) -> str:
    return "the last dimension" if dim == -1 else f"dimension −{-dim}"


def _unary(step: Callable[[Tensor], Tensor]) -> Replaced:
    return lambda func, args, kwargs: step(args[0])


def _along(dim: int) -> Replaced:
    def replaced(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if "dim" in kwargs:
            return func(*args, **{**kwargs, "dim": dim})
        return func(args[0], dim, *args[2:], **kwargs)

    return replaced


def _over_everything(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if "softmax" in _name(func):
        return func(args[0].flatten(), 0).view(args[0].shape)
    result = func(args[0])
    return result.expand([1] * args[0].dim()) if kwargs.get("keepdim") else result


def _correction(number: int) -> Replaced:
    def replaced(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        kept = {name: value for name, value in kwargs.items() if name != "unbiased"}
        return func(*args[:2], **{**kept, "correction": number})

    return replaced


def _named(other: str) -> Replaced:
    def replaced(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = getattr(torch, other)(*args, **kwargs)
        return result.values if other == "median" and not isinstance(result, Tensor) else result

    return replaced


def _filled(value: float) -> Replaced:
    return lambda func, args, kwargs: func(args[0], args[1], value)


def _filled_elsewhere(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return func(args[0], ~args[1], *args[2:], **kwargs)
