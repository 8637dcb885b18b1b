"""What kind of result a reader returned, and the same values as a tensor."""

from numbers import Number
from typing import Any

import numpy as np
import torch
from torch import Tensor


def is_numeric(value: Any) -> bool:
    """Return whether a value is a number or holds numbers only: a tensor, an array."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind in "biufc"  # not text, not objects
    return isinstance(value, (Tensor, Number))


def as_tensor(number: Any) -> Tensor:
    """Return a number as a tensor, one of Python's own with all digits that it has."""
    if isinstance(number, (Tensor, np.ndarray, np.generic, bool, complex)):
        return torch.as_tensor(number).detach()
    if isinstance(number, int):
        if abs(number) < 2**63:
            return torch.tensor(number)
        number = max(-(10**308), min(number, 10**308))
    return torch.tensor(float(number), dtype=torch.float64)


def kind(value: Any) -> str:
    """Return what a value is, with its article, to be put into a sentence."""
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    name = "None" if value is None else noun(value)
    return name if value is None else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def noun(value: Any) -> str:
    """Return what a value is called: a tensor, a dictionary, a list."""
    name = "tensor" if isinstance(value, Tensor) else type(value).__name__
    return {"ndarray": "array of NumPy", "str": "text", "dict": "dictionary"}.get(name, name)


def as_values(value: Any) -> Tensor | None:
    """Return a number, an array or a list of numbers as a tensor; None for anything else."""
    if isinstance(value, Tensor):
        return value.detach().cpu()
    if isinstance(value, np.ndarray):
        return torch.as_tensor(value) if value.dtype.kind in "biufc" else None
    if is_numeric(value):
        return as_tensor(value)
    if not isinstance(value, (list, tuple)) or not value:
        return None
    parts = [as_values(part) for part in value]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or len({part.shape for part in known}) > 1:
        return None
    truths = [part.dtype == torch.bool for part in known]
    if any(truths) != all(truths):
        return None
    common = torch.float64 if any(part.is_floating_point() for part in known) else known[0].dtype
    return torch.stack([part.to(common) for part in known])
