"""A device that is not the CPU, for machines that have none.

Its tensors say that they lie on "meta" and hold their numbers on the CPU. An operation that gets
tensors of both devices is refused as a GPU refuses it; a single number (0 dimensions) may come from
the CPU. So code that makes a tensor without saying where fails here as it would on a GPU.
"""

from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

ELSEWHERE = torch.device("meta")


class Away(Tensor):
    """A tensor of that device; `here` holds its numbers."""

    here: Tensor

    @staticmethod
    def __new__(cls, here: Tensor) -> "Away":
        options = {"dtype": here.dtype, "device": ELSEWHERE, "strides": here.stride()}
        away = Tensor._make_wrapper_subclass(cls, here.shape, **options)
        away.here = here
        return away

    def __repr__(self) -> str:
        return f"Away({self.here})"

    def tolist(self) -> Any:
        """Bring the numbers to Python, as `tolist` does from a GPU."""
        return self.here.tolist()

    def numpy(self, **_: Any) -> Any:
        """Refuse, as a GPU's tensor does."""
        raise TypeError("a tensor of another device has no NumPy array")

    def __getitem__(self, index: Any) -> Any:
        return super().__getitem__(taken_along(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(taken_along(index), value)

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return run(function, args, kwargs or {})


def taken_along(index: Any) -> tuple[Any, ...]:
    """Move lists of positions, which PyTorch would turn into tensors without numbers."""
    places = index if isinstance(index, tuple) else (index,)
    return tuple(Away(torch.tensor(x)) if isinstance(x, list) else x for x in places)


@contextmanager
def elsewhere():
    """Inside, what is made on that device is made as `Away`."""
    with _FromLists(), _FromSizes():
        yield


class _FromLists(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if function is torch.tensor and kwargs.get("device") == ELSEWHERE:
            return Away(function(*args, **{**kwargs, "device": "cpu"}))
        return function(*args, **kwargs)


class _FromSizes(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return run(function, args, kwargs or {})


@torch.inference_mode(False)  # a subclass cannot wrap what inference mode makes
@torch.no_grad()
def run(function, args, kwargs):
    """Run one operation on the numbers; its results lie where its tensors lie."""
    tensors = [x for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)]
    away = any(isinstance(x, Away) for x in tensors)
    strangers = [x for x in tensors if not isinstance(x, Away) and x.ndim]
    if function is torch.ops.aten.index.Tensor and isinstance(args[0], Away):
        strangers = []  # of a GPU's tensor: its places may be named by tensors of the CPU
    copies = function in (torch.ops.aten.copy_.default, torch.ops.aten._to_copy.default)
    if away and strangers and not copies:
        shapes = [tuple(x.shape) for x in strangers]
        raise RuntimeError(
            f"{function}: tensors of two devices, those of shape {shapes} on the CPU"
        )
    if "device" in kwargs and kwargs["device"] is not None:
        away = torch.device(kwargs["device"]) == ELSEWHERE
        kwargs = {**kwargs, "device": torch.device("cpu")}
    here = tree_map(lambda x: x.here if isinstance(x, Away) else x, (args, kwargs))
    result = function(*here[0], **here[1])
    if function._schema.is_mutable:  # in place: the tensor itself, whose numbers have changed
        return args[0] if args else result
    return tree_map(lambda x: Away(x) if away and isinstance(x, Tensor) else x, result)


def move(module: nn.Module) -> nn.Module:
    """Put every parameter and buffer there, tied ones as one."""
    moved: dict[int, Tensor] = {}
    for part in module.modules():
        for tensors in (part._parameters, part._buffers):
            for name, tensor in tensors.items():
                if tensor is not None:
                    there = moved.setdefault(id(tensor), Away(tensor.detach()))
                    tensors[name] = there
    return module
