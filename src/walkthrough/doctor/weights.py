"""Probes of parameters: which get a gradient, which stand in several places, which are tied."""

from collections import defaultdict
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from walkthrough.doctor.examination import Examination


def names_of(model: nn.Module, wanted: Sequence[Tensor]) -> str:
    """Return the first names of these parameters."""
    ids = {id(p) for p in wanted}
    names = [name for name, p in model.named_parameters() if id(p) in ids]
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def no_gradient(x: Examination) -> bool | None:
    """Which tensors get no gradient from three batches, though they are there to be trained?"""
    parameters = [p for p in x.model.parameters() if p.requires_grad]
    reached, touched, called = set[int](), set[int](), set[int]()
    if not parameters:
        x.unseen("no gradient.frozen")
        return False

    def note(module: nn.Module, *_: object) -> None:
        called.update(id(p) for p in module.parameters(recurse=False))

    hooks = [m.register_forward_hook(note) for m in x.model.modules()]
    for seed in range(3):
        logits = x.run(x.subject.ids(0, seed), x.subject.ids(1, seed), grad=True).float()
        weights = torch.randn(logits.shape, generator=torch.Generator().manual_seed(seed))
        total = (logits * weights.to(logits)).sum()
        grads = torch.autograd.grad(total, parameters, allow_unused=True)
        pairs = [(id(p), g) for p, g in zip(parameters, grads, strict=True) if g is not None]
        reached |= {p for p, _ in pairs}
        touched |= {p for p, g in pairs if bool(g.any())}
    for hook in hooks:
        hook.remove()
    dead: dict[str, list[Tensor]] = defaultdict(list)
    for p in parameters:
        if id(p) in reached and id(p) not in touched and p.dim() > 1 and not _acts(x, p):
            dead["thrown"].append(p)  # biases of keys have no effect, in no model
        elif id(p) not in reached:
            acts = _acts(x, p) or (p.dim() == 1 and dead["cut"])
            dead["cut" if acts else "thrown" if id(p) in called else "unused"].append(p)
    for key in [key for key, ones in dead.items() if ones]:
        say, moves = x.departs if key == "unused" else x.bug, "the" if key == "cut" else "no"
        witness = f"three batches; shaking one moves {moves} logits"
        say(f"no gradient.{key}", witness, names_of(x.model, dead[key]), n=len(dead[key]))
    if not any(dead.values()):
        x.same("no gradient.same", "three batches", n=len(parameters))
    return None


def _acts(x: Examination, parameter: Tensor) -> bool:
    was = parameter.detach().clone()
    noise = torch.randn(was.shape, generator=torch.Generator().manual_seed(4))
    parameter.data.add_(noise.to(was))
    moved = float(x.moved(x.run(x.source, x.target), x.base).max())
    parameter.data.copy_(was)
    return moved > x.far


def not_registered(x: Examination) -> None:
    """Are layers kept in a plain list, where no optimiser, `.to` or `state_dict` finds them?"""
    known = {id(p) for p in x.model.parameters()}
    for name, module in x.model.named_modules():
        for attribute, value in vars(module).items():
            held = list(value.values()) if isinstance(value, dict) else value
            if attribute.startswith("_") or not isinstance(held, (list, tuple)):
                continue
            inside = [p for one in held if isinstance(one, nn.Module) for p in one.parameters()]
            lost = [p for p in inside if id(p) not in known]
            total = (
                x.run(x.source, x.target, grad=True).float().logsumexp(-1).sum() if lost else None
            )
            if total is not None and total.requires_grad:
                grads = torch.autograd.grad(total, lost, allow_unused=True)
                n = sum(g is not None for g in grads)
                where, kind = f"{name}.{attribute}".strip("."), type(value).__name__
                if n:
                    said = {"n": n, "attribute": attribute, "kind": kind}
                    x.bug("not registered.list", "the logits' gradient reaches them", where, **said)


def one_layer(x: Examination) -> None:
    """Does one module stand in several places of a list, or work several times in a row?"""
    several = set[nn.Module]()
    for name, module in x.model.named_modules():
        if not isinstance(module, (nn.ModuleList, nn.Sequential)):
            continue
        places: dict[nn.Module, list[str]] = defaultdict(list)
        for key, child in module._modules.items():
            if child is not None and any(True for _ in child.parameters()):
                places[child].append(f"{name}.{key}")
        for child, keys in places.items():
            n = len(list(child.parameters()))
            if len(keys) > 1:
                several.add(child)
                witness = f"{n} tensors in place of {n * len(keys)}"
                x.bug("one layer.same_object", witness, ", ".join(keys), n=len(keys), name=name)

    for name, module in x.model.named_modules():
        n = _in_a_row(x, name)
        if n > 1 and module not in several and any(True for _ in module.parameters()):
            x.departs("one layer.loop", "calls in one forward pass", name, n=n)


def _in_a_row(x: Examination, name: str) -> int:
    """Return how often a module works on one side for each call of the module around it."""
    calls = x.tape.calls if x.tape and name else {}
    around, total = name, 0
    while around and not total:
        around = around.rpartition(".")[0]
        total = sum(calls.get((around, side), 0) for side in (False, True))
    return max(calls.get((name, side), 0) for side in (False, True)) // max(1, total)


def ties(x: Examination) -> None:
    """Are embeddings and projection one matrix, one object, or only one memory?"""
    groups: dict[int, dict[str, int]] = defaultdict(dict)
    for name, p in x.model.named_parameters(remove_duplicate=False):
        if p.dim() == 2 and x.base.shape[-1] in p.shape:
            groups[p.data_ptr()][name] = id(p)
    for group in groups.values():
        if len(set(group.values())) > 1:
            x.departs("ties.memory", module=", ".join(group), names=" and ".join(group))
    names = ", ".join(name for group in groups.values() for name in group)
    if len(groups) > 1:
        x.departs("ties.untied", module=names, n=len(groups))
    elif names.count(",") or (groups and x.tape and _reads_as_table(x, groups)):
        x.same("ties.same", module=names)


def _reads_as_table(x: Examination, groups: dict[int, dict[str, int]]) -> bool:
    """Is the one matrix the embedding of both sides?"""
    tables = x.tape.tables.values() if x.tape else ()
    return len(tables) == 2 and all(table.data_ptr() in groups for table in tables)
