"""The tape: tensors are followed through torch's own operators in one forward pass.

A tag says where a tensor comes from. A tag that is lost means *not seen*; it is never read as
absence. A painted pass overwrites each row of a projection with the row's number: what stands
together in a row of the next product then shows whose numbers were put together.
"""

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode

from walkthrough.doctor.calling import Subject
from walkthrough.doctor.tags import Attention, Op, Tag

_MOVES = """view _unsafe_view reshape _reshape_alias transpose t permute expand clone unsqueeze
squeeze slice select split split_with_sizes unsafe_split unsafe_chunk chunk unbind cat stack detach
alias repeat contiguous where nan_to_num _to_copy copy_ index masked_fill masked_fill_
index_put index_put_ constant_pad_nd lift_fresh roll flip"""
KEEPS = frozenset(_MOVES.split())
DRAWS = {"bernoulli", "bernoulli_", "rand", "rand_like", "uniform_"}
PAINT = 1000


class Tape(TorchDispatchMode):
    """One forward pass, and what was seen of attentions, norms, sums, dropout and positions."""

    def __init__(self, norms: dict[nn.Module, str], *, paint: bool) -> None:
        super().__init__()
        self.norm_modules, self.paint = norms, paint
        self.tags: dict[int, tuple[Any, Tag]] = {}  # with the tensor, so that its id stays its own
        self.written: dict[int, tuple[Any, Tag]] = {}  # by memory: what was put into a part of it
        self.path, self.mute = [""], 0
        self.tables: dict[int, Tensor] = {}
        self.looked: Counter[int] = Counter()  # how often the words of a side were looked up
        self.positions: dict[int, list[tuple[Tensor, bool, Tag, Tensor]]] = {0: [], 1: []}
        self.attentions: list[Attention] = []
        self.norms: list[tuple[Tag, Tensor, bool]] = []
        self.dropouts: list[tuple[str, str]] = []
        self.bends: list[tuple[str, str, Tag, int]] = []
        self.followed: list[tuple[str, str, bool]] = []
        self.calls: dict[tuple[str, bool], list[Tensor]] = {}  # inputs, by whether target is in
        self.sums: list[tuple[str, Tag, Tag]] = []

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # or torch loads its compiler, which takes seconds

    def tag(self, x: Any) -> Tag | None:
        """Return a tensor's tag, or None where it was lost."""
        if isinstance(x, nn.Parameter) and id(x) not in self.tags:
            self.tags[id(x)] = x, Tag("weight", of="trained" if x.requires_grad else "")
        if not isinstance(x, Tensor):
            return None
        return (self.tags.get(id(x)) or self.written.get(_memory(x)) or (x, None))[1]

    def before_norm(self, root: Tensor | None) -> Tensor | None:
        """Return what a norm was given to make this, or None where no norm made it."""
        return next((tag.root for tag, out, _ in self.norms if out is root), None)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if self.mute:
            return out
        flat = [a for arg in args for a in (arg if isinstance(arg, (list, tuple)) else (arg,))]
        tensors = [a for a in flat if isinstance(a, Tensor)]
        known = [(x, tag) for x in tensors if (tag := self.tag(x))]
        op = Op(func.overloadpacket.__name__, flat, tensors, known, out)
        if (tag := self.tagged(op)) is not None:
            tag = tag._replace(sides=frozenset[int]().union(*(t.sides for _, t in known)))
            for result in out if isinstance(out, (list, tuple)) else (out,):
                self.tags[id(result)] = result, tag
            if op.name.endswith("_"):  # in place
                self.tags[id(flat[0])] = self.written[_memory(flat[0])] = flat[0], tag
        return out

    def tagged(self, op: Op) -> Tag | None:
        """Return what an operator's result is, or None where nothing is known of it."""
        name, known = op.name.strip("_"), op.known
        if op.name in ("embedding", "index", "index_select") and (row := self.looked_up(op)):
            return row
        if op.name == "native_layer_norm":
            gain = [x for x, tag in op.known if tag.kind == "weight"]
            return self.norm(op.flat[0], op.out[0], registered=bool(gain))
        if op.name in DRAWS:
            return Tag("noise")
        if op.name.endswith("_like") or op.name.startswith("new_") or not known:
            return None
        acts = [(x, tag) for x, tag in known if tag.kind != "weight"]
        tag = next((tag for _, tag in acts if tag.kind != "noise"), (acts or known)[0][1])
        if len(known) == len(op.tensors) and not acts:  # a weight that is made of weights
            return tag
        if name in ("mm", "addmm", "bmm", "baddbmm", "convolution"):
            return self.product(op)
        if name in ("softmax", "safe_softmax") and known[0][1].kind == "score":
            query, key, d_k, seen = tag.info
            self.followed += seen
            scores, weights = op.flat[0].detach().clone(), op.out.detach().clone()
            read = Attention(self.path[-1], query, key, d_k, tag.scale, scores, weights)
            self.attentions.append(read)
            return Tag("attn", root=tag.root, info=len(self.attentions) - 1)
        if name in ("mul", "div"):
            return self.times(op)
        if name in ("add", "sub") and acts:
            return self.plus(op, acts)
        if op.name == "native_dropout":
            self.dropouts.append((self.path[-1], tag.place))
            return tag
        floats = isinstance(op.out, Tensor) and op.out.is_floating_point()
        if op.name in KEEPS or tag.kind == "noise":
            drops = name in ("where", "masked_fill") and any(t.kind == "noise" for _, t in acts)
            if drops and floats and tag.kind != "noise":
                self.dropouts.append((self.path[-1], tag.place))
            return tag
        return tag._replace(kind="act", of=name) if acts and floats else None

    def looked_up(self, op: Op) -> Tag | None:
        """Tag embeddings: of the sentences' ids, or of anything else, which are positions."""
        if len(op.tensors) != 2 or op.tensors[0].dim() != 2:
            return None
        table, ids = op.tensors
        if ids.dtype not in (torch.int64, torch.int32):
            return None
        tag, weight = self.tag(ids), self.tag(table)
        if tag and tag.kind == "ids":
            self.tables.update(dict.fromkeys(tag.sides, table))
            self.looked.update(tag.sides)
            return Tag("tok", root=op.out, info=float(op.out.detach().norm()))
        rows = ids if ids.dim() == 2 else ids[None]  # places are the same in every sentence
        same = ids.dim() < 3 and bool((rows == rows[:1]).all())
        return Tag("pos", of=weight.of if weight else "") if same else None

    def norm(self, x: Tensor, out: Tensor, *, registered: bool) -> Tag:
        """Note a normalisation."""
        tag = self.tag(x) or Tag("act", root=x)
        self.norms.append((tag, out, registered))
        return Tag("norm", tag.sides, out, info=tag.root)

    def product(self, op: Op) -> Tag:
        """Tag products: with a matrix of the model, of queries and keys, of weights and values."""
        conv = op.name == "convolution"
        a, b = op.tensors[:2] if conv else op.tensors[-2:]
        s, t = self.tag(a), self.tag(b)
        if s is None or t is None or s.kind == "weight":
            return Tag("act", root=op.known[0][1].root, of=op.name)
        if t.kind == "weight":
            shape = tuple(b.shape[:2])[::-1] if conv else tuple(b.shape[-2:])
            bias = op.name == "addmm" or (conv and len(op.tensors) > 2)
            if s.kind == "ctx":
                self.followed += self.used("merge", a, s)
            elif s.kind in ("act", "lin"):
                self.bends.append((self.path[-1], s.of if s.kind == "act" else "", s, shape[1]))
            if not conv:
                self.number_rows(op.out)
            return Tag("lin", root=s.root, of=s.kind, bias=bias, shape=shape)
        if "attn" in (s.kind, t.kind):
            weights_first = s.kind == "attn"
            of_weights, total = (s, a.sum(-1)) if weights_first else (t, b.sum(-2))
            values = (b, t) if weights_first else (a.mT, s)
            self.followed += self.used("values", *values)
            read = self.attentions[of_weights.info]
            far = float(torch.minimum(total.abs(), (total - 1).abs()).max())
            self.attentions[of_weights.info] = read._replace(added_up=far)
            self.number_rows(op.out if weights_first else op.out.mT)
            return Tag("ctx", root=of_weights.root)
        # it is told when a softmax follows: without one, they are no queries and keys
        info = s, t, a.shape[-1], self.used("queries", a, s) + self.used("keys", b.mT, t)
        return Tag("score", root=s.root, scale=s.scale * t.scale, info=info)

    def number_rows(self, out: Tensor) -> None:
        """Overwrite each row with its number, in a painted pass."""
        if self.paint:
            out.copy_(PAINT + torch.arange(out.shape[-2], device=out.device)[:, None])

    def used(self, what: str, x: Tensor, tag: Tag) -> list[tuple[str, str, bool]]:
        """Return whether a row holds numbers of several, or one place of the heads those of others.

        Numbers that were not only moved and scaled are not followed.
        """
        numbers = x.detach().double() / tag.scale
        rows = numbers.round()
        if not self.paint or not bool(((numbers - rows).abs() < 0.1).all()) or rows.min() < PAINT:
            return []
        mixed = bool((rows != rows[..., :1]).any())
        if (
            what != "merge"
        ):  # queries, keys and values: each number's row has one place in all heads
            first = rows[..., 0].reshape(-1, rows.shape[-2])
            place = torch.arange(first.shape[1]).expand_as(first)
            pairs = {*zip(first.flatten().tolist(), place.flatten().tolist(), strict=True)}
            mixed = mixed or len(pairs) > len({row for row, _ in pairs})
        return [(self.path[-1], what, mixed)]

    def times(self, op: Op) -> Tag:
        """Tag products and quotients: a number scales, noise drops, anything else bends."""
        fitting = ((x, t) for x, t in op.known if t.kind not in ("noise", "weight"))
        x, tag = next(fitting, op.known[0])
        factors = [a for a in op.flat if a is not x and isinstance(a, (int, float, Tensor))]
        numbers = [a for a in factors if not isinstance(a, Tensor) or a.numel() == 1]
        if any(t.kind == "noise" for _, t in op.known) and tag.kind != "noise":
            self.dropouts.append((self.path[-1], tag.place))
        elif numbers or len(op.tensors) == 1:
            by = float(numbers[0]) if numbers else 1.0
            return tag._replace(scale=tag.scale / by if "div" in op.name else tag.scale * by)
        elif tag.kind == "score":  # unless zeros and ones shut scores, by what is not known
            shuts = all(bool(((a == 0) | (a == 1)).all()) for a in factors if isinstance(a, Tensor))
            return tag if shuts else tag._replace(scale=math.nan)
        elif tag.kind not in ("tok", "sum", "attn"):
            return tag._replace(kind="act", of=tag.of if tag.kind == "act" else "mul")
        return tag

    def plus(self, op: Op, acts: list[tuple[Tensor, Tag]]) -> Tag:
        """Tag sums: with a bias, a mask, positions, or the way round a sub-layer."""
        x, tag = next(((x, t) for x, t in acts if t.kind in ("tok", "sum", "score")), acts[0])
        y = next((a for a in op.tensors if a is not x), None)
        other = self.tag(y)
        if y is None or tag.kind == "score" or y.shape[-1:] == (1,):
            return tag  # one number a row, as a mean that is taken away, is no way round
        if other and other.kind == "weight" and y.dim() == 1:
            if self.paint and tag.kind == "lin":
                op.out.sub_(y)
            return tag._replace(bias=True)
        if tag.kind in ("tok", "sum") and not (other and other.sides):  # no word is in it
            if y.dim() > 1 and y.shape[-1] == x.shape[-1]:
                trained = bool(other and other.kind in ("pos", "weight") and other.of)
                for side in tag.sides:
                    before = op.out.detach() - y.detach()  # x may have been changed in place
                    self.positions[side].append((y.detach().clone(), trained, tag, before))
            return Tag("sum", root=op.out)
        if other is None or other.kind == "weight":
            return (
                tag if tag.of != "tok" or y.dim() == 1 else tag._replace(kind="act", shape=(0, 0))
            )
        if {tag.kind, other.kind} <= {"tok", "sum", "pos"}:
            return tag
        branch, skip = (tag, other) if tag.kind in ("lin", "ctx") else (other, tag)
        way_round = skip.kind in ("tok", "sum", "res", "norm") or not any(skip.shape)
        if not way_round and branch.root is skip.root:  # both come out of a product
            return branch._replace(bias=tag.bias or other.bias)  # two parts of one branch
        if branch.kind in ("lin", "ctx") and skip.kind in ("tok", "sum", "res", "norm"):
            self.sums.append((self.path[-1], branch, skip))
        return Tag("res", root=op.out)


def _memory(x: Tensor) -> int:
    return x.untyped_storage().data_ptr()


@contextmanager
def slow_path() -> Iterator[None]:
    """Keep torch's attention on the path whose operators can be seen, with its weights."""
    was = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with sdpa_kernel(SDPBackend.MATH):
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(was)


def record(
    subject: Subject,
    norms: dict[nn.Module, str],
    *,
    train: bool = False,
    source: Tensor | None = None,
    paint: bool = False,
) -> Tape:
    """Follow one forward pass; every attention computes its weights, so that they are seen."""
    tape, model = Tape(norms, paint=paint), subject.model
    names = {m: name for name, m in model.named_modules()}
    buffers = [(b, b.clone()) for b in model.buffers()]

    def enter(module: nn.Module, args: Any) -> None:
        tape.path.append(names[module])
        if args and (tag := tape.tag(args[0])) and tag.sides:
            tape.calls.setdefault((names[module], 1 in tag.sides), []).append(args[0])
        tape.mute += module in norms

    def leave(module: nn.Module, args: Any, out: Any) -> None:
        if module in norms:
            tape.mute -= 1
            if not tape.mute:
                tape.tags[id(out)] = out, tape.norm(args[0], out, registered=True)
        tape.path.pop()

    model.train(train)
    ids = (subject.ids(0) if source is None else source, subject.ids(1))
    with ExitStack() as stack:
        for module in names:
            stack.enter_context(module.register_forward_pre_hook(enter))
            stack.enter_context(module.register_forward_hook(leave))
        stack.enter_context(slow_path())
        stack.enter_context(tape)
        for side, x in enumerate(ids):
            tape.tags[id(x)] = x, Tag("ids", frozenset({side}))
        subject.logits(*ids)
    for buffer, was in buffers:
        buffer.data.copy_(was)
    if len(tape.tables) < 2:  # which attention looks at which side is not known then
        none = frozenset[int]()
        seen = tape.attentions
        tape.attentions = [one._replace(query=one.query._replace(sides=none)) for one in seen]
    return tape
