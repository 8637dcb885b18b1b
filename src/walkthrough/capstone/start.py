"""What no weights show: how a module begins, what it drops in training, what it holds (§5.4)."""

import inspect
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from walkthrough.capstone import book
from walkthrough.checking import Verdict
from walkthrough.doctor.report import SITE

DROPPED = 0.99
EMBEDDING = "TokenEmbedding"
STACKS = f"{SITE}book/09-encoder-and-decoder.html#what-goes-wrong"


def problem(part: str, made: Any) -> str:
    """Return what is wrong with a fresh module of this part, or nothing; its numbers are right."""
    if part not in PROBES:
        return ""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        return PROBES[part](made)


def _spread(module: nn.Module) -> float | None:
    """Return the standard deviation of a fresh matrix of words, where d_model^−0.5 is 1.

    Of several it is that which is furthest off.
    """
    vocab, d_model = book.config().vocab_size, book.config().d_model
    shapes = (vocab, d_model), (d_model, vocab)
    found = [
        float(p.detach().std()) * d_model**0.5 for p in module.parameters() if p.shape in shapes
    ]
    return max(found, key=lambda std: max(std, 1 / (std or 1e-9)), default=None)


def _told(spread: float | None) -> str:
    """Return a standard deviation and what it should be, in words; nothing where it is right."""
    if spread is None or 0.5 < spread < 2:
        return ""
    unit = book.config().d_model ** -0.5
    return f"standard deviation {spread * unit:.2g}, and d_model^−0.5 is {unit:.2g}"


def _embedding(made: Any) -> str:
    told = _told(_spread(made(book.config().vocab_size, book.config().d_model)))
    said = f"the numbers are right, but not the start: with d_model {book.config().d_model} "
    return told and f"{said}a fresh matrix has {told}"


def _in_model(made: Any) -> float | None:
    """Return the spread of the embeddings that a fresh model has, when all of it is made."""
    with torch.random.fork_rng(devices=[]):
        model = made(**book.sizes_for(made))
    return _spread(nn.ModuleList(x for x in model.modules() if type(x).__name__ == EMBEDDING))


def drawn_again(verdict: Verdict, made: Any) -> Verdict:
    """Return the verdict on an embedding alone, right where the whole model mends its start."""
    try:
        spread = _in_model(made)
    except Exception:  # whatever a reader's code raises: told of the model
        return verdict
    if spread is None or _told(spread):
        return verdict
    std = f"{spread * book.config().d_model ** -0.5:.2g}"
    said = f"your `Transformer` draws it again, with standard deviation {std}, as it should be"
    return Verdict("right", f"alone its matrix starts otherwise; {said}", "drawn again")


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
    if told := _told(_in_model(made)):
        return f"your embedding starts right, and the model draws it again: it has {told}"
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
    EMBEDDING: _embedding, "ResidualNorm": _residual, "Transformer": _model
}  # fmt: skip


def lost(module: nn.Module) -> str:
    """Return the sentence on layers that PyTorch does not see, or sees once for several places."""
    known = {id(parameter) for parameter in module.parameters()}
    for path, owner in module.named_modules():
        kind = type(owner).__name__
        for name, value in vars(owner).items():
            if name.startswith("_") or not isinstance(value, (list, tuple)):
                continue
            held = [one for one in value if isinstance(one, nn.Module)]
            if any(id(parameter) not in known for one in held for parameter in one.parameters()):
                return (
                    f"`self.{name}` of `{kind}` is a plain {type(value).__name__}. PyTorch does "
                    "not see the modules in it: their weights are not in `state_dict()`, and no "
                    f"optimiser gets them. Use `nn.ModuleList`: {STACKS}"
                )
        places: dict[nn.Module, str] = {}
        for key, one in owner._modules.items():
            here = f"{path}.{key}".strip(".")
            if one is not None and one in places and any(True for _ in one.parameters()):
                return (
                    f"`{here}` is the same `{type(one).__name__}` as `{places[one]}`: one set of "
                    f"weights stands in several places. Make a new one for each: {STACKS}"
                )
            if one is not None:
                places[one] = here
    return ""
