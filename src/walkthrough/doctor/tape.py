"""The tape: tensors are followed through torch's own operators in one forward pass.

A tag says where a tensor comes from. A tag that is lost means *not seen*; it is never read as
absence. Labels say from which position each number comes, through operators that only move them.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode

from walkthrough.doctor.calling import Subject

SHAPES = {"view", "_unsafe_view", "reshape", "_reshape_alias"}
MOVES = SHAPES | {"transpose", "t", "permute", "expand", "clone", "unsqueeze", "squeeze", "slice"}
MOVES |= {"select", "split", "split_with_sizes", "unsafe_split", "unsafe_chunk", "chunk", "unbind"}
MOVES |= {"cat", "stack", "detach", "alias", "repeat", "contiguous"}
KEEPS = MOVES | {"masked_fill", "masked_fill_", "where", "nan_to_num", "_to_copy", "copy_", "index"}
KEEPS |= {"constant_pad_nd", "lift_fresh"}
DRAWS = {"bernoulli", "bernoulli_", "rand", "rand_like", "uniform_"}


@dataclass(frozen=True)
class Tag:
    """What a tensor is, which sentences are in it, and what it was made of.

    `kind`: ids, weight, noise, tok (embedded), pos, sum (with positions), norm, lin (after a
    matrix), score, attn (after the softmax), ctx (weights times values), act, res (a sum of two).
    `root` is the tensor that the sub-layer began with; `info` what is seen at the end of it.
    """

    kind: str
    sides: frozenset[int] = frozenset()
    root: Tensor | None = None
    scale: float = 1.0
    of: str = ""
    bias: bool = False
    shape: tuple[int, ...] = (0, 0)
    labels: Tensor | None = None
    origin: int = -1
    info: Any = None


@dataclass
class Attention:
    """One softmax over scores; `added_up` is the largest distance of a row's sum from 0 or 1."""

    where: str
    query: Tag
    key: Tag
    d_k: int
    scale: float
    scores: Tensor
    weights: Tensor
    added_up: float | None = None

    @property
    def kind(self) -> str:
        """Which of the three attentions it is, or an empty word where a tag was lost."""
        if not self.key.sides or not self.query.sides:
            return ""
        return "decoder" if 1 in self.key.sides else "cross" if 1 in self.query.sides else "encoder"


@dataclass
class Mixed:
    """Numbers of several positions in one row, where only one is expected."""

    where: str
    what: str
    n_use: int
    origin: int


class Tape(TorchDispatchMode):
    """One forward pass; `poke` moves the first row of the result with this number by one."""

    def __init__(
        self, subject: Subject, norms: dict[nn.Module, str], poke: int = -1, keep: int = -1
    ):
        super().__init__()
        self.tags: dict[int, Tag] = {}
        self.alive: list[Any] = []
        self.path, self.mute, self.norm_modules, self.batch = [""], 0, norms, subject.batch
        self.poke, self.keep, self.n_results, self.n_uses = poke, keep, 0, 0
        self.kept: Tensor | None = None
        self.tables: dict[int, Tensor] = {}
        self.positions: dict[int, list[tuple[Tensor, bool, Tag, Tensor]]] = {0: [], 1: []}
        self.attentions: list[Attention] = []
        self.norms: list[tuple[str, Tag, Tensor, Tensor, bool]] = []
        self.dropouts: list[tuple[str, str]] = []
        self.bends: list[tuple[str, str, Tag, int]] = []
        self.mixed: list[Mixed] = []
        self.merges = 0
        self.calls = Counter[tuple[str, bool]]()  # of modules, by whether the target is in them
        self.sums: list[tuple[str, Tag, Tag]] = []
        self.added: set[int] = set()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # or torch loads its compiler, which takes seconds

    def put(self, x: Any, tag: Tag) -> None:
        """Tag a tensor; it is kept alive, so that its id stays its own."""
        self.tags[id(x)] = tag
        self.alive.append(x)

    def tag(self, x: Any) -> Tag | None:
        """Return a tensor's tag, or None where it was lost."""
        if isinstance(x, nn.Parameter) and id(x) not in self.tags:
            self.put(x, Tag("weight", of="trained" if x.requires_grad else ""))
        return self.tags.get(id(x)) if isinstance(x, Tensor) else None

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if not self.mute:
            name = func.overloadpacket.__name__
            flat = [a for arg in args for a in (arg if isinstance(arg, (list, tuple)) else (arg,))]
            self.see(name, flat, [a for a in flat if isinstance(a, Tensor)], out)
            if name in MOVES:
                self.relabel(name, func, args, kwargs or {}, out)
            if name.endswith("_") and flat and (tag := self.tag(out)):
                self.put(flat[0], tag)  # it was changed in place
        return out

    def see(self, name: str, flat: list[Any], tensors: list[Tensor], out: Any) -> None:
        """Tag what an operator returns."""
        known = [(x, tag) for x in tensors if (tag := self.tag(x))]
        acts = [(x, tag) for x, tag in known if tag.kind != "weight"]
        sides = frozenset[int]().union(*(tag.sides for _, tag in known))
        if name in ("embedding", "index", "index_select") and self.looked_up(tensors, out):
            return
        if name == "native_layer_norm":
            self.norm(flat[0], out[0], registered=False)
        elif name in DRAWS:
            self.put(out, Tag("noise"))
        elif name.endswith("_like") or name.startswith("new_") or not known:
            return
        elif name == "native_dropout":
            self.dropouts.append((self.path[-1], place(known[0][1])))
            self.put(out[0], known[0][1])
        elif name in ("mm", "addmm", "bmm", "baddbmm", "convolution"):
            self.multiplied(name, tensors, sides, out)
        elif name in ("_softmax", "_safe_softmax") and known[0][1].kind == "score":
            tag = known[0][1]
            query, key, d_k = tag.info
            scores, weights = flat[0].detach().clone(), out.detach().clone()
            self.attentions.append(
                Attention(self.path[-1], query, key, d_k, tag.scale, scores, weights)
            )
            self.put(out, Tag("attn", sides, tag.root, info=len(self.attentions) - 1))
        elif name.strip("_") in ("mul", "div"):
            self.times(name, flat, tensors, known, sides, out)
        elif name.strip("_") in ("add", "sub") and acts:
            self.put(out, self.plus(tensors, acts, sides, out))
        elif name in KEEPS or (acts and acts[0][1].kind == "noise"):
            tag = replace((acts or known)[0][1], sides=sides)
            whole = isinstance(out, Tensor) and out.shape == (acts or known)[0][0].shape
            for o in out if isinstance(out, (list, tuple)) else (out,):
                self.put(o, tag if whole else replace(tag, labels=None))
        elif acts and isinstance(out, Tensor) and out.is_floating_point():
            self.put(
                out, replace(acts[0][1], kind="act", sides=sides, of=name.strip("_"), labels=None)
            )

    def looked_up(self, tensors: list[Tensor], out: Tensor) -> bool:
        """Tag embeddings: of the sentences' ids, or of anything else, which are positions."""
        if (
            len(tensors) != 2
            or tensors[0].dim() != 2
            or tensors[1].dtype not in (torch.int64, torch.int32)
        ):
            return False
        table, ids = tensors
        tag, weight = self.tag(ids), self.tag(table)
        if tag and tag.kind == "ids":
            self.tables.update(dict.fromkeys(tag.sides, table))
            self.put(out, Tag("tok", tag.sides, out))
        else:
            self.put(out, Tag("pos", of=weight.of if weight else ""))
        return True

    def norm(self, x: Tensor, out: Tensor, *, registered: bool) -> None:
        """Note a normalisation."""
        tag = self.tag(x) or Tag("act", root=x)
        self.norms.append((self.path[-1], tag, x, out, registered))
        self.put(out, Tag("norm", tag.sides, out, info=tag.root))

    def multiplied(
        self, name: str, tensors: list[Tensor], sides: frozenset[int], out: Tensor
    ) -> None:
        """Tag products: with a matrix of the model, of queries and keys, of weights and values."""
        a, b = tensors[:2] if name == "convolution" else tensors[-2:]
        s, t = self.tag(a), self.tag(b)
        if s and t and s.kind != "weight" and t.kind == "weight":
            shape = tuple(b.shape[:2])[::-1] if name == "convolution" else tuple(b.shape[-2:])
            bias = name == "addmm" or (name == "convolution" and len(tensors) > 2)
            if s.kind == "ctx":
                self.merges += s.labels is not None
                self.used("merge", a, s, -1)
            elif s.kind in ("act", "lin"):
                self.bends.append((self.path[-1], s.of if s.kind == "act" else "", s, shape[1]))
            self.put(
                out,
                Tag(
                    "lin",
                    sides,
                    s.root,
                    of=s.kind,
                    bias=bias,
                    shape=shape,
                    **self.rows(out, name != "convolution"),
                ),
            )
        elif s and t and "attn" in (s.kind, t.kind):
            first = s.kind == "attn"
            weights, values, tag, axis = (a, b, t, -1) if first else (b, a, s, -2)
            self.used("values", values, tag, axis)
            total = weights.sum(axis)
            one = self.attentions[(s if first else t).info]
            one.added_up = float(torch.minimum(total.abs(), (total - 1).abs()).max())
            self.put(
                out,
                Tag(
                    "ctx",
                    sides,
                    (s if first else t).root,
                    **self.rows(out, True, axis - 1 if first else -1),
                ),
            )
        elif s and t and "weight" not in (s.kind, t.kind):
            self.used("queries", a, s, -1)
            self.used("keys", b, t, -2)
            self.put(out, Tag("score", sides, s.root, s.scale * t.scale, info=(s, t, a.shape[-1])))
        elif s or t:
            self.put(out, Tag("act", sides, (s or t or Tag("")).root, of=name))

    def rows(self, out: Tensor, wanted: bool, axis: int = -2) -> dict[str, Any]:
        """Label the numbers of a result by their row; move a row, if this is the one to poke."""
        if not wanted:
            return {}
        n = self.n_results
        self.n_results += 1
        if n == self.poke:
            out.select(axis, 0).add_(1.0)
        index = torch.arange(out.shape[axis])
        labels = index[:, None] if axis == -2 else index
        return {"labels": labels.expand(out.shape), "origin": n}

    def used(self, what: str, x: Tensor, tag: Tag, axis: int) -> None:
        """Note where one row of an operand has numbers of several positions."""
        n = self.n_uses
        self.n_uses += 1
        if n == self.keep:
            self.kept = x.detach().clone().movedim(axis, -1)
        if tag.labels is not None and tag.labels.shape == x.shape:
            labels = tag.labels.movedim(axis, -1)
            mixed = bool((labels != labels[..., :1]).any())
            if what != "merge":  # the same place in every head, of as many sentences as there are
                places = labels[..., 0].flatten(0, -2).sort(0).values
                mixed |= bool(((places[1:] != places[:-1]).sum(0) >= self.batch).any())
            if mixed:
                self.mixed.append(Mixed(self.path[-1], what, n, tag.origin))

    def times(
        self,
        name: str,
        flat: list[Any],
        tensors: list[Tensor],
        known: list[tuple[Tensor, Tag]],
        sides: frozenset[int],
        out: Tensor,
    ) -> None:
        """Tag products and quotients: a number scales, noise drops, anything else bends."""
        kinds = [tag.kind for _, tag in known]
        x, tag = next(((x, t) for x, t in known if t.kind not in ("noise", "weight")), known[0])
        others = [
            a
            for a in flat
            if a is not x
            and (isinstance(a, (int, float)) or (isinstance(a, Tensor) and a.numel() == 1))
        ]
        if "noise" in kinds and tag.kind != "noise":
            self.dropouts.append((self.path[-1], place(tag)))
        elif others or len(tensors) == 1:
            by = float(others[0]) if others else 1.0
            tag = replace(tag, scale=tag.scale / by if "div" in name else tag.scale * by)
        elif len(known) > 1 or tag.kind not in ("tok", "sum", "score", "attn"):
            of = tag.of if tag.kind == "act" else "mul"
            tag = replace(tag, kind="act", sides=sides, of=of, labels=None)
        self.put(out, tag)

    def plus(
        self,
        tensors: list[Tensor],
        acts: list[tuple[Tensor, Tag]],
        sides: frozenset[int],
        out: Tensor,
    ) -> Tag:
        """Tag sums: with a bias, a mask, positions, or the way round a sub-layer."""
        x, tag = next(((x, t) for x, t in acts if t.kind in ("tok", "sum", "score")), acts[0])
        y = next((a for a in tensors if a is not x), None)
        other = self.tag(y)
        if y is None or tag.kind == "score":
            return tag
        if other and other.kind == "weight" and y.dim() == 1:
            return replace(tag, bias=True)
        if tag.kind in ("tok", "sum") and (other is None or other.kind in ("pos", "weight")):
            if y.dim() > 1 and y.shape[-1] == x.shape[-1]:
                for side in tag.sides:
                    trained = bool(other and other.of)
                    self.positions[side].append((y.detach().clone(), trained, tag, x.detach()))
            return Tag("sum", sides, out)
        if other is None or other.kind == "weight":
            return replace(tag, labels=None)
        branch, skip = (tag, other) if tag.kind in ("lin", "ctx") else (other, tag)
        if branch.kind in ("lin", "ctx") and skip.kind in ("tok", "sum", "res", "norm"):
            self.sums.append((self.path[-1], branch, skip))
            self.added.add(id(skip.root))
        return Tag("res", sides, out)

    def relabel(self, name: str, func: Any, args: Any, kwargs: Any, out: Any) -> None:
        """Let labels go the way of the numbers, where all of them have labels."""

        def labels(a: Any) -> Any:
            if isinstance(a, (list, tuple)):
                return [labels(one) for one in a]
            return found[id(a)] if isinstance(a, Tensor) else a

        outs = out if isinstance(out, (list, tuple)) else (out,)
        flat = [one for a in args for one in (a if isinstance(a, (list, tuple)) else (a,))]
        tags = {id(a): self.tags.get(id(a)) for a in flat if isinstance(a, Tensor)}
        found = {key: tag.labels for key, tag in tags.items() if tag and tag.labels is not None}
        if len(found) < len(tags):
            return
        moved = func(*map(labels, args), **kwargs) if name not in SHAPES else None
        moved = labels(args[0]).reshape(out.shape) if name in SHAPES else moved
        for o, one in zip(
            outs, moved if isinstance(moved, (list, tuple)) else (moved,), strict=True
        ):
            self.tags[id(o)] = replace(self.tags[id(o)], labels=one)


PLACES = {
    "attn": "the attention weights",
    "sum": "embedding and positions",
    "tok": "the embedding alone",
    "pos": "the positions alone",
    "norm": "a norm's output",
    "ctx": "the heads' results",
    "res": "the sum around a sub-layer",
}


def place(tag: Tag) -> str:
    """Return in words where numbers are dropped, by what they are."""
    if tag.of != "ctx" and tag.kind in ("lin", "act") and tag.shape[1] > tag.shape[0]:
        return "the inside of the feed-forward network"
    if tag.kind == "lin":
        return "a projection" if tag.of in ("tok", "sum", "norm", "res") else "a sub-layer's output"
    return PLACES.get(tag.kind, "a place that was not seen")


def norms_of(subject: Subject) -> dict[nn.Module, str]:
    """Return the modules that normalise, found by what they do: f(3x + 2) = f(x), or f(3x) = f(x).

    The words say how: "layer" or "rms", "n - 1" where the deviation is divided so.
    """
    widths: dict[nn.Module, Tensor] = {}

    def look(module: nn.Module, args: Any, out: Any) -> None:
        if (
            args
            and isinstance(args[0], Tensor)
            and isinstance(out, Tensor)
            and out.shape == args[0].shape
        ) and (
            out.is_floating_point()
            and out.dim() > 1
            and not any(p.dim() > 1 for p in module.parameters())
        ):
            widths.setdefault(module, args[0])

    with _slow_path(), ExitStack() as hooks:
        for module in subject.model.modules():
            hooks.enter_context(module.register_forward_hook(look))
        subject.logits(subject.ids(0), subject.ids(1))
    found = {m: how for m, x in widths.items() if (how := _normalises(m, x))}
    return {
        m: how for m, how in found.items() if not any(c in found for c in m.modules() if c is not m)
    }


@contextmanager
def _slow_path() -> Iterator[None]:
    """Keep torch's attention on the path whose operators can be seen, with its weights."""
    was = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with sdpa_kernel(SDPBackend.MATH):
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(was)


@torch.no_grad()
def _normalises(module: nn.Module, like: Tensor) -> str:
    x = 4 * torch.randn(like.shape, generator=torch.Generator().manual_seed(3)).to(like)
    try:
        y, apart = module(x), float(module(x).std())
        if apart == 0 or float((module(3 * x) - y).abs().max()) > 1e-3 * apart:
            return ""
        how = "layer" if float((module(3 * x + 8) - y).abs().max()) < 1e-3 * apart else "rms"
        other = x.clone()
        other[..., 0, :] *= torch.linspace(1, 9, x.shape[-1]).to(x)
        if bool(((module(other) - y)[..., 1:, :].abs() > 1e-3 * apart).any()):
            how += ", over positions"
        elif how == "layer":
            z = (x - x.mean(-1, keepdim=True)) / x.std(-1, correction=0, keepdim=True)
            gain = ((y - module(-x)) / 2 / z).mean(dim=tuple(range(x.dim() - 1)))
            gains = [p.detach() for p in module.parameters() if p.numel() in (1, x.shape[-1])] or [
                torch.ones_like(gain)
            ]
            n = x.shape[-1]
            ratios = [float((gain / g).median()) for g in gains if bool((g != 0).all())]
            if any(abs(r - ((n - 1) / n) ** 0.5) < 0.1 / n for r in ratios) and not any(
                abs(r - 1) < 0.1 / n for r in ratios
            ):
                how += ", n - 1"
        return how
    except Exception:  # it takes no other numbers: then it is not one
        return ""


def record(
    subject: Subject,
    norms: dict[nn.Module, str],
    *,
    train: bool = False,
    source: Tensor | None = None,
    **how: int,
) -> Tape:
    """Follow one forward pass; every attention computes its weights, so that they are seen."""
    tape, model = Tape(subject, norms, **how), subject.model
    names = {m: name for name, m in model.named_modules()}
    buffers = [(b, b.clone()) for b in model.buffers()]

    def enter(module: nn.Module, args: Any) -> None:
        tape.path.append(names[module])
        if args and (tag := tape.tag(args[0])) and tag.sides:
            tape.calls[names[module], 1 in tag.sides] += 1
        tape.mute += module in norms

    def leave(module: nn.Module, args: Any, out: Any) -> None:
        if module in norms:
            tape.mute -= 1
            if not tape.mute:
                tape.norm(args[0], out, registered=True)
        tape.path.pop()

    def hooks() -> Iterator[Any]:
        for module in names:
            yield module.register_forward_pre_hook(enter)
            yield module.register_forward_hook(leave)

    model.train(train)
    ids = (subject.ids(0) if source is None else source, subject.ids(1))
    with ExitStack() as stack:
        for hook in hooks():
            stack.enter_context(hook)
        stack.enter_context(_slow_path())
        stack.enter_context(tape)
        for side, x in enumerate(ids):
            tape.put(x, Tag("ids", frozenset({side})))
        subject.logits(*ids)
    for buffer, was in buffers:
        buffer.data.copy_(was)
    return tape
