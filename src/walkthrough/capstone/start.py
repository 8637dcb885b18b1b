"""What no weights show: how a module begins, what it drops in training, what it holds (§5.4)."""

import inspect
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from walkthrough.capstone import book
from walkthrough.doctor.report import SITE

DROPPED = 0.99
STACKS = f"{SITE}book/09-encoder-and-decoder.html#what-goes-wrong"


def problem(part: str, made: Any) -> str:
    """Return what is wrong with a fresh module of this part, or nothing; its numbers are right."""
    probe = PROBES.get(part)
    if probe is None:
        return ""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        return probe(made)


def _embedding(made: Any) -> str:
    vocab, d_model = book.config().vocab_size, book.config().d_model
    shapes = (vocab, d_model), (d_model, vocab)
    for parameter in made(vocab, d_model).parameters():
        std, wanted = float(parameter.std()), d_model**-0.5
        if parameter.shape in shapes and not wanted / 2 < std < 2 * wanted:
            return (
                f"the numbers are right, but not the start: with d_model {d_model} a fresh matrix "
                f"has standard deviation {std:.2g}, and d_model^−0.5 is {wanted:.2g}"
            )
    return ""


def _residual(made: Any) -> str:
    x, branch = torch.randn(2, 40, 8, 24).unbind()
    normed, whole = (F.layer_norm(y, (24,)) for y in (x, x + branch))

    def alike(one: Tensor, other: Tensor) -> bool:
        """Most vectors are the same: a few of their numbers survive."""
        return float(((one - other).abs().amax(-1) < 1e-3).float().mean()) > 0.5

    module = made(24, DROPPED)
    if not alike(module.eval()(x, lambda _: branch), whole):
        return "the numbers are right, but not the start: `gain` begins at 1 and `bias` at 0"
    dropped = module.train()(x, lambda _: branch)
    if alike(dropped, normed):
        return ""
    said = "in training, dropout must act on what the sub-layer returns, and on nothing else: "
    if alike(dropped, whole):
        return f"{said}here nothing is dropped"
    if alike(dropped, torch.zeros(())):
        return f"{said}here x is dropped as well"
    return f"{said}with dropout {DROPPED}, x and its norm should be nearly all that is left"


def _model(made: Any) -> str:
    if "dropout" not in inspect.signature(made).parameters:
        return ""
    model = made(**(book.sizes_for(made) | {"dropout": 0.5})).train()
    with book.recorded(model) as seen:
        model(*book.batch())
    for stack in ("encoder", "decoder"):
        entered = (one.value for one in seen if one.path == f"{stack}.0" and one.is_input)
        shares = (float((x == 0).float().mean()) for x in entered if x.is_floating_point())
        share = min(shares, default=0.5)
        if share < 0.3:
            return (
                "in training, dropout must act on the sum of embeddings and positions: with "
                f"dropout 0.5, {100 * share:.0f} % of the numbers that enter the {stack} are 0"
            )
    return ""


PROBES: dict[str, Callable[[Any], str]] = {
    "TokenEmbedding": _embedding,
    "ResidualNorm": _residual,
    "Transformer": _model,
}


def lost(module: nn.Module) -> str:
    """Return the sentence on layers that PyTorch does not see, or sees once for several places."""
    known = {id(parameter) for parameter in module.parameters()}
    for path, owner in module.named_modules():
        for name, value in vars(owner).items():
            if name.startswith("_") or not isinstance(value, (list, tuple)):
                continue
            held = [one for one in value if isinstance(one, nn.Module)]
            if any(id(parameter) not in known for one in held for parameter in one.parameters()):
                return (
                    f"`self.{name}` of `{type(owner).__name__}` is a plain {type(value).__name__}. "
                    "PyTorch does not see the modules in it: their weights are not in "
                    f"`state_dict()`, and no optimiser gets them. Use `nn.ModuleList`: {STACKS}"
                )
        places: dict[nn.Module, str] = {}
        for key, one in owner._modules.items():
            if one is None:
                continue
            here = f"{path}.{key}".strip(".")
            if one in places and any(True for _ in one.parameters()):
                return (
                    f"`{here}` is the same `{type(one).__name__}` as `{places[one]}`: one set of "
                    f"weights stands in several places. Make a new one for each: {STACKS}"
                )
            places[one] = here
    return ""
