"""How somebody's model is called: two tensors of ids go in, (batch, target, vocabulary) comes out.

What comes back, in which order and at which length, and which masks are wanted, is found by trying.
"""

import inspect
import itertools
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

Call = Callable[[Tensor, Tensor], Any]
_SEED = torch.default_generator.manual_seed
LENGTHS = (6, 7)
"""Of source and target, where a model takes any length; unequal, so that they are told apart."""
_LINES = """
Only encoder–decoders are examined. Write a function from two tensors of ids to logits:

    def call(source, target):  # ids, (batch, source length) and (batch, target length)
        return model(source, target, …)  # logits, (batch, target length, vocabulary)

    print(examine(model, call=call, pad=0))"""


class CannotCallError(ValueError):
    """No way was found to call the model; the message has what was tried and what to write."""

    def __init__(self, tried: list[str]) -> None:
        several = list(dict.fromkeys(tried))
        more = f"\n  … and {len(several) - 6} other ways" if len(several) > 6 else ""
        shown = "\n  ".join(several[:6])
        super().__init__(f"the model could not be called. Tried:\n  {shown}{more}\n{_LINES}")


@dataclass
class Subject:
    """A model and a way to call it that works.

    `words` are ids of both vocabularies that are neither padding nor likely to be special;
    `lengths` those of source and target, and `any_length` says whether others work too.
    """

    model: nn.Module
    raw: Call
    pads: tuple[int, int]
    words: range = range(4, 40)
    lengths: tuple[int, int] = LENGTHS
    length_first: bool = False
    masks: str = ""
    closed: bool = True
    given: bool = False
    batch: int = 3  # neither of the lengths
    device: torch.device | None = None

    @property
    def any_length(self) -> bool:
        """Whether it takes sentences of any length."""
        return self.lengths == LENGTHS

    def ids(self, side: int, seed: int = 0) -> Tensor:
        """Return a batch of distinct words; source (0) and target (1) draw from their own half."""
        half = len(self.words) // 2
        words = self.words[side * half : (side + 1) * half]
        length, drawn = self.lengths[side], torch.Generator().manual_seed(10 * seed + side)
        rows = [torch.randperm(len(words), generator=drawn) for _ in range(self.batch)]
        places = [row.repeat(length // len(row) + 1)[:length] for row in rows]
        return (torch.stack(places) + words[0]).to(self.device)

    def other(self, ids: Tensor, side: int) -> Tensor:
        """Return for each word another of the same half."""
        half = len(self.words) // 2
        first = self.words[side * half]
        return first + (ids - first + 1) % half

    def output(self, source: Tensor, target: Tensor, *, seeded: bool = True) -> Any:
        """Return what the model returns, from the same random numbers every time."""
        if seeded:
            _SEED(0)
            random.seed(0)
            np.random.seed(0)
        return self.raw(*((ids.T if self.length_first else ids) for ids in (source, target)))

    def logits(self, source: Tensor, target: Tensor, *, seeded: bool = True) -> Tensor:
        """Return (batch, target length, vocabulary), whatever the form in which they come."""
        output = self.output(source, target, seeded=seeded)
        logits = in_order(output, target.shape, self.length_first)
        if logits is None:
            raise ValueError("no tensor of a fitting shape came back")
        return logits


def tensors_in(output: Any) -> Iterator[Tensor]:
    """Yield the tensors of floats in an output of any form, those called logits first."""
    if isinstance(output, Tensor):
        if output.is_floating_point():
            yield output
    elif hasattr(output, "logits"):
        yield from tensors_in(output.logits)
    elif isinstance(output, (dict, tuple, list)):
        for part in output.values() if isinstance(output, dict) else output:
            yield from tensors_in(part)


def in_order(output: Any, target: tuple[int, ...], length_first: bool) -> Tensor | None:
    """Return the first tensor that can be logits as (batch, length, vocabulary), or None."""
    batch, length = target
    for x in tensors_in(output):
        for t in (length, length - 1):  # some drop the last target themselves
            match tuple(x.shape):
                case (b, n, _) if (b, n) == (batch, t):
                    return x
                case (n, b, _) if (b, n) == (batch, t):
                    return x.transpose(0, 1)
                case (b, _, n) if (b, n) == (batch, t):
                    return x.transpose(1, 2)
                case (bn, v) if bn == batch * t:
                    rows = x.reshape(t, batch, v).transpose(0, 1)
                    return rows if length_first else x.reshape(batch, t, v)
    return None


def find_call(model: nn.Module, call: Call | None, pads: tuple[int, int]) -> Subject:
    """Return a way to call the model, found by trying.

    Raises:
        CannotCallError: none was found.
    """
    tried: list[str] = []
    named: Call = model
    if any(isinstance(module, torch.jit.ScriptModule) for module in model.modules()):
        raise CannotCallError(["torch.jit keeps its operators; examine what it was made from"])
    given = _parameters(model)
    if call is None and [p.kind for p in given] == [inspect.Parameter.POSITIONAL_OR_KEYWORD]:
        one = f"forward takes {given[0].name} alone; an encoder–decoder takes source and target"
        raise CannotCallError([one])
    ids = [p for p in given if p.name not in _mask_names(model)][:2]
    if call is None and any(p.kind is p.KEYWORD_ONLY for p in ids) and len(ids) == 2:
        named = _by_name(model, ids[0].name, ids[1].name)
    anything = next(itertools.chain(model.parameters(), model.buffers()), torch.zeros(()))
    start = Subject(model, call or named, pads, given=call is not None, device=anything.device)
    best = _tried(start, tried)
    if call is None and (best is None or _mask_names(model)):  # they may be needed, even if not
        seen = 9 if best is None else _seen(best)
        for raw, masks in _with_masks(model, pads):
            if seen == 0:
                break
            masked = _with_lengths(replace(start, raw=raw, masks=masks), LENGTHS, tried)
            if masked is not None and (now := _seen(masked)) < seen:
                best, seen = masked, now
        if best is not None:
            best.closed = seen == 0
    if best is None:
        raise CannotCallError(tried)
    return best


def _tried(start: Subject, tried: list[str]) -> Subject | None:
    """Return a copy of `start` with a layout and lengths that work, those with any length first."""
    subject = _with_lengths(start, LENGTHS, tried)
    named = re.findall(r"(?<=[( ])\d+(?=\)|$| )", " ".join(tried))  # errors name the right size
    tensors = itertools.chain(start.model.parameters(), start.model.buffers())
    numbers = [*map(int, named), *_lengths(start.model), *(n for x in tensors for n in x.shape)]
    sizes = [n for n in dict.fromkeys(numbers) if 4 < n <= 256]
    for lengths in [*((n, n) for n in sizes), *itertools.permutations(sizes[:6], 2)]:
        subject = subject or _with_lengths(start, lengths, tried)
    return subject


def _lengths(model: nn.Module) -> Iterator[int]:
    for module in model.modules():
        for name, value in vars(module).items():
            if type(value) is int and any(w in name.lower() for w in ("len", "seq", "size")):
                yield value


def _with_lengths(start: Subject, lengths: tuple[int, int], tried: list[str]) -> Subject | None:
    for length_first, last in itertools.product((False, True), (40, 20, 11, 8)):
        words = range(4 if last > 8 else 2, last)
        subject = replace(start, lengths=lengths, length_first=length_first, words=words)
        source, target = subject.ids(0), subject.ids(1)
        shapes = [tuple((x.T if length_first else x).shape) for x in (source, target)]
        way = f"ids {shapes[0]} and {shapes[1]}{subject.masks}"
        try:
            output = _completed(subject, source, target)
            if in_order(output, target.shape, length_first) is not None:
                return subject
            tried.append(f"{way} → no logits: {tuple(target.shape)} + (vocabulary,) were expected")
        except Exception as error:  # whatever somebody's code raises
            first = (str(error).strip() or "no message").splitlines()[0][:140]
            tried.append(f"{way} → {type(error).__name__}: {first}")
    return None


def _completed(subject: Subject, source: Tensor, target: Tensor) -> Any:
    """Call the model; where only states come back, put a projection behind that it did not call."""
    called: set[nn.Module] = set()
    modules = subject.model.modules()
    hooks = [m.register_forward_pre_hook(lambda m, _: called.add(m)) for m in modules]
    try:
        output = subject.output(source, target)
    finally:
        for hook in hooks:
            hook.remove()
    states = in_order(output, target.shape, subject.length_first)
    sizes = {m.num_embeddings for m in called if isinstance(m, nn.Embedding)}
    if states is None or subject.given or states.shape[-1] in sizes:
        return output
    for name, module in subject.model.named_children():
        shapes = [tuple(p.shape) for p in module.parameters()]
        if module not in called and any((v, states.shape[-1]) in shapes for v in sizes):
            subject.raw = _behind(subject.raw, module)
            subject.masks += f", and then {name}"
            return subject.output(source, target)
    return output


def _behind(raw: Call, module: nn.Module) -> Call:
    return lambda source, target: module(next(tensors_in(raw(source, target))))


def _by_name(model: nn.Module, first: str, second: str) -> Call:
    return lambda source, target: model(**{first: source, second: target})


def _parameters(model: nn.Module) -> list[inspect.Parameter]:
    return list(inspect.signature(model.forward).parameters.values())


def _mask_names(model: nn.Module) -> list[str]:
    names = [p.name for p in _parameters(model)]
    return [n for n in names if any(word in n.lower() for word in ("mask", "pad", "len"))]


def _with_masks(model: nn.Module, pads: tuple[int, int]) -> Iterator[tuple[Call, str]]:
    """Yield calls with the masks that are common, by the names of the parameters of `forward`."""
    wanted = _mask_names(model)
    ids = [p.name for p in _parameters(model) if p.name not in wanted][:2]
    kinds = ("True = may attend", "True = hidden", "added")
    for form in itertools.product(((1, 1), (1,), ()), ("BHTT", "BTT", "TT"), kinds):

        def raw(source: Tensor, target: Tensor, form: Any = form) -> Any:
            made = {name: _mask(name, source, target, pads, *form) for name in wanted}
            return model(**{ids[0]: source, ids[1]: target}, **made)

        if wanted and len(ids) == 2:
            yield raw, f", masks (batch{', 1' * len(form[0])}, source) and {form[1]}, {form[2]}"


def _mask(
    name: str, source: Tensor, target: Tensor, pads: Any, rows: Any, square: str, kind: str
) -> Tensor:
    """Return the mask, or the lengths, that a parameter of this name may want."""
    name = name.lower()
    side = int(any(w in name for w in ("tgt", "trg", "target", "dec", "look", "caus", "out")))
    side = 0 if any(w in name for w in ("mem", "cross", "src", "source")) else side
    real = (source, target)[side] != pads[side]
    if "len" in name:
        return real.sum(1)
    may = real.reshape(len(real), *rows, -1)
    if side == 1 and "pad" not in name:
        past = torch.ones(2 * [real.shape[1]], dtype=torch.bool, device=real.device).tril()
        may = {"BHTT": real[:, None, None] & past, "BTT": real[:, None] & past, "TT": past}[square]
    if kind == "added":
        return torch.zeros(may.shape, device=may.device).masked_fill(~may, -torch.inf)
    return may if kind == "True = may attend" else ~may


@torch.no_grad()
def _seen(subject: Subject) -> int:
    """Return how much of future and padding is seen with these masks: 0, 1 or more."""
    was = subject.model.training
    subject.model.eval()
    source, target = subject.ids(0), subject.ids(1)
    last = torch.cat([target[:, :-1], subject.other(target[:, -1:], 1)], 1)
    longer = nn.functional.pad(source, (0, 2), value=subject.pads[0])
    try:
        base = subject.logits(source, target)
        far = 1e-4 * base.std()
        seen = (subject.logits(source, last) - base)[:, : target.shape[1] - 1].abs().max() > far
        padded = subject.any_length and (subject.logits(longer, target) - base).abs().max() > far
        return int(seen) + int(padded) + 2 * int(bool(base.isnan().any()))
    except Exception:
        return 2
    finally:
        subject.model.train(was)
