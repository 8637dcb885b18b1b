"""Modules that normalise are found by what they do: a stretched input gives the same output."""

import copy
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn

from walkthrough.doctor.calling import Subject
from walkthrough.doctor.tape import slow_path


def norms_of(subject: Subject) -> dict[nn.Module, str]:
    """Return the modules that normalise: f(3x + 2) = f(x), or f(3x) = f(x).

    The words say how: "layer" or "rms", "n - 1" where the deviation is divided so.
    """
    inputs: dict[nn.Module, Tensor] = {}

    def look(module: nn.Module, args: Any, out: Any) -> None:
        x = args[0] if args and not isinstance(args[0], nn.Parameter) else None
        if isinstance(x, Tensor) and isinstance(out, Tensor) and out.shape == x.shape:
            no_matrix = not any(p.dim() > 1 for p in module.parameters())
            if out.is_floating_point() and out.dim() > 1 and no_matrix:
                inputs.setdefault(module, x)

    with slow_path(), ExitStack() as hooks:
        for module in subject.model.modules():
            hooks.enter_context(module.register_forward_hook(look))
        subject.logits(subject.ids(0), subject.ids(1))
    kinds = {m: how for m, x in inputs.items() if (how := _normalises(m, x))}
    inner = {m for m in kinds if not any(c in kinds for c in m.modules() if c is not m)}
    return {m: how for m, how in kinds.items() if m in inner}


@torch.no_grad()
def _normalises(module: nn.Module, like: Tensor) -> str:
    drawn = torch.randn(like.shape, generator=torch.Generator().manual_seed(3), dtype=torch.double)
    x = 4 * drawn.to(like.device)
    other = x.clone()
    other[..., 0, :] *= torch.linspace(1, 9, x.shape[-1]).to(x)
    try:
        module = copy.deepcopy(module).double()
        y, stretched, moved, another = (module(z) for z in (x, 3 * x, 3 * x + 8, other))
        far = 1e-3 * float(y.std())
        if far == 0 or float((stretched - y).abs().max()) > far:
            return ""
        how = "layer" if float((moved - y).abs().max()) < far else "rms"
        if bool(((another - y)[..., 1:, :].abs() > far).any()):
            return f"{how}, over positions"
        return f"{how}, n - 1" if how == "layer" and _unbiased(module, x, y) else how
    except Exception:  # it takes no other numbers: then it is not one
        return ""


def _unbiased(module: nn.Module, x: Tensor, y: Tensor) -> bool:
    """Are gains smaller by √((n − 1)/n), as they are where the deviation is divided by n − 1?"""
    n = x.shape[-1]
    z = (x - x.mean(-1, keepdim=True)) / x.std(-1, correction=0, keepdim=True)
    seen = ((y - module(-x)) / 2 / z).mean(dim=tuple(range(x.dim() - 1)))
    gains: list[Tensor] = [p for p in module.parameters() if p.numel() in (1, n)]
    gains = gains or [torch.ones_like(seen)]
    ratios = [float((seen / gain).median()) for gain in gains if bool((gain != 0).all())]
    smaller, equal = (
        any(abs(ratio - wanted) < 0.1 / n for ratio in ratios)
        for wanted in (((n - 1) / n) ** 0.5, 1.0)
    )
    return smaller and not equal
