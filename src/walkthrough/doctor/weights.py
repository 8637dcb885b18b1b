"""Probes of parameters: which get a gradient, which stand in several places, which are tied."""

from collections import defaultdict
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from walkthrough.doctor.examination import Examination


def no_gradient(x: Examination) -> bool | None:
    """Which tensors get no gradient from three batches, though they are there to be trained?"""
    parameters = {name: p for name, p in x.model.named_parameters() if p.requires_grad}
    if not parameters:
        x.unseen("no gradient.frozen")
        return False
    called, reached, touched = set[int](), set[str](), set[str]()

    def note(module: nn.Module, args: tuple[object, ...], _: object) -> None:
        if not any(isinstance(a, Tensor) and a.numel() == 0 for a in args):  # an idle expert
            called.update(id(p) for p in module.parameters(recurse=False))

    hooks = [m.register_forward_hook(note) for m in x.model.modules()]
    for seed in range(3):
        logits = x.run(x.subject.ids(0, seed), x.subject.ids(1, seed), grad=True).float()
        weights = torch.randn(logits.shape, generator=torch.Generator().manual_seed(seed))
        total = (logits * weights.to(logits)).sum()
        grads = torch.autograd.grad(total, [*parameters.values()], allow_unused=True)
        pairs = [(name, g) for name, g in zip(parameters, grads, strict=True) if g is not None]
        reached |= {name for name, _ in pairs}
        touched |= {name for name, g in pairs if bool(g.any())}
    for hook in hooks:
        hook.remove()
    dead: dict[str, list[str]] = defaultdict(list)
    for name, p in parameters.items():
        if name in reached and name not in touched and p.dim() > 1 and not _acts(x, p):
            dead["thrown" if id(p) in called else "unused"].append(name)
            # biases of keys have no effect, in no model
        elif name not in reached:
            acts = _acts(x, p) or (p.dim() == 1 and dead["cut"])
            dead["cut" if acts else "thrown" if id(p) in called else "unused"].append(name)
    for key, names in dead.items():
        if names:
            say, moves = x.departs if key == "unused" else x.bug, "the" if key == "cut" else "no"
            witness = f"three batches; shaking one moves {moves} logits"
            say(f"no gradient.{key}", witness, _first(names), n=len(names))
    if not any(dead.values()):
        x.same("no gradient.same", "three batches", n=len(parameters))
    return None


def _first(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def _acts(x: Examination, parameter: Tensor) -> bool:
    was = parameter.detach().clone()
    noise = torch.randn(was.shape, generator=torch.Generator().manual_seed(4))
    parameter.data.add_(noise.to(was))
    moved = x.effect()
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
            inside = [p for part in held if isinstance(part, nn.Module) for p in part.parameters()]
            lost = [p for p in inside if id(p) not in known]
            n = sum(_acts(x, p) for p in lost)
            if n:
                where, kind = f"{name}.{attribute}".strip("."), type(value).__name__
                words = {"n": n, "attribute": attribute, "kind": kind}
                x.bug("not registered.list", "shaking one moves the logits", where, **words)


def one_layer(x: Examination) -> None:
    """Does one module stand in several places of a list, or work several times in a row?"""
    several = set[nn.Module]()
    for name, module in x.model.named_modules():
        places: dict[nn.Module, list[str]] = defaultdict(list)
        if isinstance(module, (nn.ModuleList, nn.Sequential)):
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
    calls = {key: _chained(x, inputs) for key, inputs in x.tape.calls.items()} if name else {}
    around, total = name, 0
    while around and not total:
        around = around.rpartition(".")[0]
        total = sum(calls.get((around, side), 0) for side in (False, True))
    return max(calls.get((name, side), 0) for side in (False, True)) // max(1, total)


def _chained(x: Examination, inputs: Sequence[Tensor]) -> int:
    """Return how many inputs may be one another's outputs: whole batches of one shape, unequal.

    A model may also take sentence after sentence, or a word more each time.
    """
    whole = [one for one in inputs if x.subject.batch in one.shape and one.is_floating_point()]
    return max(
        (
            sum(
                one.shape == last.shape and not any(torch.equal(one, o) for o in whole[:i])
                for i, one in enumerate(whole)
            )
            for last in whole
        ),
        default=0,
    )


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
    tables = [*x.tape.tables.values()]  # is the one matrix that of both sides?
    both = len(tables) == 2 and all(table.data_ptr() in groups for table in tables)
    if len(groups) > 1:
        x.departs("ties.untied", module=names, n=len(groups))
    elif names.count(",") or (groups and both):
        x.same("ties.same", module=names)
