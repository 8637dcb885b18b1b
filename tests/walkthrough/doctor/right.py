# ruff: noqa: E501
"""Right models in other people's conventions: of these the doctor may say nothing false."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrizations
from variants import built

from transformer.config import TransformerConfig
from transformer.model import Transformer
from walkthrough.ch21_translate_in_your_browser.translator import load_translator

SMALL = TransformerConfig(vocab_size=60, d_model=32, n_heads=4, n_layers=2, d_ff=64, max_len=100)


def own(**changes):
    return Transformer(SMALL.replace(**changes))


class Torch(nn.Module):
    """`torch.nn.Transformer`, with embeddings, positions and masks around it."""

    def __init__(self, *, masks="key_padding", positions=True, **changes):
        super().__init__()
        self.words, self.out = nn.Embedding(60, 32, padding_idx=0), nn.Linear(32, 60)
        self.places, self.masks = nn.Embedding(100, 32), masks
        how = {"batch_first": True, "dim_feedforward": 64, "dropout": 0.1} | changes
        self.body = nn.Transformer(32, 4, 2, 2, **how)
        self.first = how["batch_first"]

    def forward(self, source, target):
        closed, closed_target = ((x if self.first else x.T) == 0 for x in (source, target))
        axis = 1 if self.first else 0
        later = torch.ones(2 * [target.shape[axis]], dtype=torch.bool).triu(1)
        if self.masks == "added":
            later = torch.zeros(later.shape).masked_fill(later, -math.inf)
            closed = torch.zeros(closed.shape).masked_fill(closed, -math.inf)
            closed_target = torch.zeros(closed_target.shape).masked_fill(closed_target, -math.inf)
        x, y = (self.words(ids) + self._places(ids.shape[axis]) for ids in (source, target))
        y = self.body(
            x,
            y,
            tgt_mask=later,
            src_key_padding_mask=closed,
            tgt_key_padding_mask=closed_target,
            memory_key_padding_mask=closed,
        )
        return self.out(y)

    def _places(self, n):
        places = self.places(torch.arange(n))
        return places if self.first else places[:, None]


class Masked(nn.Module):
    """The package's model behind masks that the caller has to make."""

    def __init__(self, form):
        super().__init__()
        self.model, self.form = own(), form

    def forward(self, src, tgt, src_mask, tgt_mask):
        real, past = self.form(src_mask, tgt_mask)
        m = self.model
        x, _ = m.encoder(m._embed(m.source_embedding, src, start=0), real)
        y, _ = m.decoder(m._embed(m.target_embedding, tgt, start=0), x, past, real)
        return m.project(y)


class Around(nn.Module):
    """The package's model with something done to what comes back, or to what goes in."""

    def __init__(self, back=lambda y: y, into=lambda s, t: (s, t), **changes):
        super().__init__()
        self.model, self.back, self.into = own(**changes), back, into

    def forward(self, source, target):
        return self.back(self.model(*self.into(source, target)))


class Marian(nn.Module):
    """Marian's conventions: halves, swish, positions from 0, no √d, source and target tied."""

    def __init__(self, table, scale=True, start=0):
        super().__init__()
        self.model, self.scale = own(), scale
        for layer in (*self.model.encoder.layers, *self.model.decoder.layers):
            layer.feed_forward.forward = self._swish(layer.feed_forward)
        self.model.positions.table = table(100, 32)

    def _swish(self, network):
        return lambda x: network.contract(F.silu(network.expand(x)))

    def forward(self, source, target):
        return self.model(source, target)


def halves(n, d, less=0):
    place, c = torch.arange(n)[:, None], torch.arange(d // 2)
    angle = place / 10000 ** (c / (d // 2 - less))
    return torch.cat([angle.sin(), angle.cos()], 1)


class Rotary(nn.Module):
    """Nothing is added to the embeddings: queries and keys are turned, as in RoPE; RMS norm."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(60, 32)
        nn.init.normal_(self.words.weight, std=0.2)
        maps = {
            k: nn.Linear(32, 32, bias=False)
            for k in ["eqk", "evq", "eoo", "dqk", "dkk", "dvk", "doo", "cqk", "ckk", "cvk", "coo"]
        }
        self.maps = nn.ModuleDict(maps | {"ekk": nn.Linear(32, 32, bias=False)})
        self.wide, self.gate = nn.Linear(32, 64, bias=False), nn.Linear(32, 64, bias=False)
        self.narrow, self.norm = nn.Linear(64, 32, bias=False), nn.RMSNorm(32)
        self.norms = nn.ModuleList(nn.RMSNorm(32) for _ in range(5))

    def attend(self, kind, x, y, mask, turn=True):
        q, k = self.maps[f"{kind}qk"](x), self.maps[f"{kind}kk"](y)
        v = self.maps["evq" if kind == "e" else f"{kind}vk"](y)
        q, k, v = (z.view(len(z), -1, 4, 8).transpose(1, 2) for z in (q, k, v))
        if turn:
            q, k = self.turn(q), self.turn(k)
        z = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.maps[f"{kind}oo"](z.transpose(1, 2).flatten(2))

    @staticmethod
    def turn(x):
        angle = torch.arange(x.shape[-2])[:, None] / 100 ** (torch.arange(4) / 4)
        a, b = x.chunk(2, -1)
        return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)

    def feed(self, x):
        return self.narrow(F.silu(self.gate(x)) * self.wide(x))

    def forward(self, source, target):
        real = (source != 0)[:, None, None]
        past = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).tril()
        x, y = self.words(source), self.words(target)
        n = self.norms[0](x)
        x = x + self.attend("e", n, n, real)
        x = x + self.feed(self.norms[1](x))
        n = self.norms[2](y)
        y = y + self.attend("d", n, n, past)
        y = y + self.attend("c", self.norms[3](y), x, real, turn=False)
        y = y + self.feed(self.norms[4](y))
        return self.norm(y) @ self.words.weight.T


def _with_bos(source, target):
    return source, torch.cat([torch.ones_like(target[:, :1]), target[:, :-1]], 1)


def _trained_norms(model):
    for p in model.parameters():
        with torch.no_grad():
            p.mul_(1.3).add_(0.2 * torch.randn_like(p) if p.dim() == 1 else 0)
    return model


def _4d(source_mask, target_mask):
    return source_mask, target_mask


def _3d(source_mask, target_mask):
    return source_mask[:, None], target_mask[:, None]


def _hidden(source_mask, target_mask):
    return ~source_mask[:, None, None], ~target_mask


# Lines of the plain model, written down in another convention.
FUSED = (
    (
        "self.q, self.k = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)",
        "self.qkv = nn.Linear(d_model, 3 * d_model)",
    ),
    (
        "self.v, self.o = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)",
        "self.o = nn.Linear(d_model, d_model)",
    ),
    (
        "q, k, v = self.split(self.q(query)), self.split(self.k(key)), self.split(self.v(key))",
        "q = self.split(self.qkv(query).chunk(3, -1)[0])\n"
        "        k, v = (self.split(x) for x in self.qkv(key).chunk(3, -1)[1:])",
    ),
)
ADDED = ("scores.masked_fill(~mask, -1e9)", "scores + torch.where(mask, 0.0, -1e9)")
PRE = (
    (
        "x = self.norms[0](x + self.drop(self.look(x, x, mask)))\n"
        "        y = self.norms[1](x + self.drop(self.feed(x)))",
        "n = self.norms[0](x)\n        x = x + self.drop(self.look(n, n, mask))\n"
        "        y = x + self.drop(self.feed(self.norms[1](x)))",
    ),
    (
        "y = self.norms[0](x + self.drop(self.back(x, x, past)))\n"
        "        z = self.norms[1](y + self.drop(self.across(y, memory, mask)))\n"
        "        return self.norms[2](z + self.drop(self.feed(z)))",
        "n = self.norms[0](x)\n        y = x + self.drop(self.back(n, n, past))\n"
        "        z = y + self.drop(self.across(self.norms[1](y), memory, mask))\n"
        "        return z + self.drop(self.feed(self.norms[2](z)))",
    ),
    (
        "self.d_model = d_model\n",
        "self.d_model = d_model\n        self.last = nn.ModuleList(Norm(d_model) for _ in range(2))\n",
    ),
    (
        "            x = layer(x, mask)\n        return x",
        "            x = layer(x, mask)\n        return self.last[0](x)",
    ),
    ("return self.out(x)", "return self.out(self.last[1](x))"),
)
RMS = (
    ("self.gain, self.bias = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))",
     "self.gain = nn.Parameter(torch.ones(d_model))"),
    ("mean, var = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)\n"
     "        return self.gain * (x - mean) / (var + 1e-6).sqrt() + self.bias",
     "return self.gain * x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt()"),
)  # fmt: skip
GATED = (
    (
        "self.wide, self.narrow =",
        "self.gate = nn.Linear(d_model, d_ff)\n        self.wide, self.narrow =",
    ),
    (
        "self.narrow(self.wide(x).relu())",
        "self.narrow(nn.functional.silu(self.gate(x)) * self.wide(x))",
    ),
)
LEARNED = ('self.register_buffer("table", positions(max_len, d_model))',
           "self.table = nn.Parameter(0.1 * torch.randn(max_len, d_model))")  # fmt: skip
BY_MEMORY = ("self.out.weight = self.words.weight", "self.out.weight.data = self.words.weight.data")
BATCH_SECOND = (
    ("x.view(len(x), -1, self.n_heads, self.d_k).transpose(1, 2)",
     "x.reshape(len(x), -1, self.d_k).transpose(0, 1).unflatten(0, (-1, self.n_heads))"),
    ("heads.transpose(1, 2).reshape(query.shape)",
     "heads.flatten(0, 1).transpose(0, 1).reshape(query.shape)"),
    ("return self.drop(x)\n\n    def encode", "return self.drop(x).transpose(0, 1)\n\n    def encode"),
    ("return self.out(x)", "return self.out(x).transpose(0, 1)"),
)  # fmt: skip

LAST_BATCH_SECOND = ("self.last[1](x))", "self.last[1](x)).transpose(0, 1)")

# Seen in public code: each of these was once called a bug or a departure that it is not.
QUERY_MASK = (
    "scores.softmax(-1)",
    "scores.softmax(-1) * query.sum(-1).abs().sign()[:, None, :, None]",
)
IN_PLACE = (
    ("scores = scores.masked_fill(~mask, -1e9)", "scores[~mask.expand_as(scores)] = -1e9"),
    ("self.words(ids) * math.sqrt(self.d_model)",
     "self.words(ids)\n        x *= math.sqrt(self.d_model)"),
    ("x = x + self.table[", "x += self.table["),
)  # fmt: skip
LARGE = (
    ("        nn.init.normal_(self.words.weight, std=d_model**-0.5)\n", ""),
    ("        self.out.weight = self.words.weight\n", ""),
    ("* math.sqrt(self.d_model)", "* self.d_model"),
)

# Where a tag of the tape was lost, or stood for something else, and something false was said.
INTO_ZEROS = (
    "x = self.embed(target)",
    "ids = torch.zeros_like(target)\n        ids[:, 1:] = target[:, :-1]\n        x = self.embed(ids)",
)
TWO_PARTS = (
    (
        "self.wide, self.narrow =",
        "self.a, self.b = nn.Linear(d_model, 4), nn.Linear(4, d_model)\n        self.wide, self.narrow =",
    ),
    ("self.narrow(self.wide(x).relu())", "self.narrow(self.wide(x).relu()) + self.b(self.a(x))"),
)
EXPERTS = (
    (
        "self.wide, self.narrow =",
        "self.gate = nn.Linear(d_model, 2)\n        self.wide, self.narrow =",
    ),
    (
        "self.narrow(self.wide(x).relu())",
        "sum(g * self.narrow(self.wide(x).relu()) for g in self.gate(x).softmax(-1).split(1, -1))",
    ),
)
IDLE_EXPERT = (
    (
        "self.wide, self.narrow =",
        "self.idle = nn.Linear(d_model, d_model)\n        self.wide, self.narrow =",
    ),
    (
        "self.narrow(self.wide(x).relu())",
        "torch.cat([self.narrow(self.wide(x).relu()), self.idle(x[:0])])",
    ),
)
BY_FUNCTION = (
    "self.norms[0](x + self.drop(self.look(x, x, mask)))",
    "nn.functional.layer_norm(x + self.drop(self.look(x, x, mask)), x.shape[-1:], self.norms[0].gain, self.norms[0].bias)",
)
TEMPERATURE = (
    (
        "        self.n_heads, self.d_k =",
        "        self.hot = nn.Parameter(torch.full((n_heads, 1, 1), 0.35))\n        self.n_heads, self.d_k =",
    ),
    ("q @ k.transpose(-2, -1) / math.sqrt(self.d_k)", "q @ k.transpose(-2, -1) * self.hot"),
)
LEARNED_FACTOR = (
    (
        'self.register_buffer("table"',
        'self.much = nn.Parameter(torch.ones(1))\n        self.register_buffer("table"',
    ),
    ("self.table[: ids.shape[1]]", "self.much * self.table[: ids.shape[1]]"),
)
WORD_DROPOUT = (
    "        x = self.words(ids)",
    "        if self.training:\n            ids = torch.where(torch.rand(ids.shape) < 0.1, 3, ids)\n        x = self.words(ids)",
)


class BySentence(Around):
    """One sentence after the other."""

    def forward(self, source, target):
        return torch.cat(
            [self.model(s[None], t[None]) for s, t in zip(source, target, strict=True)]
        )


class ByWord(Around):
    """One word more each time, as in decoding."""

    def forward(self, source, target):
        ends = range(1, target.shape[1] + 1)
        return torch.cat([self.model(source, target[:, :n])[:, -1:] for n in ends], 1)


class ByName(Around):
    """Arguments that have to be named."""

    def forward(self, *, source, target):
        return self.model(source, target)


def _normed(norm, *changes):
    model = built(*changes)
    for layer in model.encoder:
        norm(layer.feed.wide)
    return model


# name → what builds it, names of the departures that it has
RIGHT = {
    "the package's": (own, set()),
    "pre-norm": (lambda: own(norm="pre"), {"norm's place"}),
    "learned positions": (lambda: own(positions="learned"), {"positions"}),
    "no biases": (lambda: own(bias=False), {"feed-forward"}),
    "untied": (lambda: own(tie_embeddings=False), {"ties"}),
    "two vocabularies": (lambda: own(tie_embeddings=False, target_vocab_size=45), {"ties"}),
    "xavier": (lambda: own(residual_init="xavier"), set()),
    "no √d_model": (lambda: own(scale_embeddings=False), {"√d_model"}),
    "no scale": (lambda: own(scale_scores=False), {"scale"}),
    "one head": (lambda: own(n_heads=1), set()),
    "wide heads": (lambda: own(d_k=16, d_v=4), set()),
    "dropout everywhere": (lambda: own(dropout=0.3, attention_dropout=0.3), {"dropout"}),
    "no dropout": (lambda: own(dropout=0.0), set()),
    "one layer": (lambda: own(n_layers=1), set()),
    "large ε": (lambda: own(layer_norm_eps=1e-3), set()),
    "trained norms": (lambda: _trained_norms(own()), set()),
    "double precision": (lambda: own().double(), set()),
    "torch's": (Torch, {"ties", "positions", "√d_model", "dropout"}),
    "torch's, pre-norm": (
        lambda: Torch(norm_first=True, activation="gelu"),
        {"ties", "positions", "√d_model", "dropout", "norm's place", "feed-forward"},
    ),
    "torch's, length first": (
        lambda: Torch(batch_first=False), {"ties", "positions", "√d_model", "dropout"}),
    "torch's, masks added": (lambda: Torch(masks="added"), {"ties", "positions", "√d_model", "dropout"}),
    "halves, swish (Marian)": (lambda: Marian(halves), {"positions", "feed-forward"}),
    "tensor2tensor's positions": (
        lambda: Marian(lambda n, d: halves(n, d, less=1)), {"positions", "feed-forward"}),
    "RoPE, RMS norm, SwiGLU": (Rotary, {"norm", "norm's place", "feed-forward"}),
    "masks (B, 1, 1, S), True = may attend": (lambda: Masked(_4d), set()),
    "masks (B, 1, S), True = may attend": (lambda: Masked(_3d), set()),
    "masks (B, S) and (T, T), True = hidden": (lambda: Masked(_hidden), set()),
    "a tuple": (lambda: Around(lambda y: (y, None)), set()),
    "(B·T, V)": (lambda: Around(lambda y: y.flatten(0, 1)), set()),
    "(B, V, T)": (lambda: Around(lambda y: y.transpose(1, 2)), set()),
    "log-probabilities": (lambda: Around(lambda y: y.log_softmax(-1)), set()),
    "last target dropped": (lambda: Around(into=lambda s, t: (s, t[:, :-1])), set()),
    "shifted inside": (lambda: Around(into=_with_bos), set()),
    "trained": (lambda: load_translator()[0], set()),
    "one map to queries, keys and values; masks added": (lambda: built(*FUSED, ADDED), set()),
    "pre-norm with a last norm": (lambda: built(*PRE), {"norm's place"}),
    "RMS norm, SwiGLU, learned positions": (
        lambda: built(*RMS, *GATED, LEARNED), {"norm", "feed-forward", "positions"}),
    "tied by memory, log_softmax": (
        lambda: built(BY_MEMORY, ("self.out(x)", "self.out(x).log_softmax(-1)")), {"ties"}),
    "batch second inside": (lambda: built(*BATCH_SECOND), set()),
    "a query mask behind the softmax": (lambda: built(QUERY_MASK), set()),
    "in place": (lambda: built(*IN_PLACE), set()),
    "scores of thousands": (lambda: built(*LARGE), {"√d_model", "ties"}),
    "shifted into zeros": (lambda: built(INTO_ZEROS), set()),
    "a branch of two parts": (lambda: built(*TWO_PARTS), set()),
    "experts": (lambda: built(*EXPERTS), set()),
    "an idle expert": (lambda: built(*IDLE_EXPERT), {"no gradient"}),
    "a narrow network": (lambda: built(("d_ff=64", "d_ff=16")), set()),
    "a norm by a function": (lambda: built(BY_FUNCTION), set()),
    "a learned temperature": (lambda: built(*TEMPERATURE), set()),
    "a learned factor of the positions": (lambda: built(*LEARNED_FACTOR), set()),
    "word dropout": (lambda: built(WORD_DROPOUT), set()),
    "brain floats": (lambda: built().bfloat16(), set()),
    "spectral norm": (lambda: _normed(parametrizations.spectral_norm), set()),
    "weight norm": (lambda: _normed(parametrizations.weight_norm), set()),
    "sentence by sentence": (BySentence, set()),
    "word by word": (ByWord, set()),
    "arguments by name": (ByName, set()),
    "tied and wide": (lambda: built(("d_model=32", "d_model=512")), set()),
    "all of it": (
        lambda: built(*FUSED, ADDED, *PRE, *RMS, *GATED, LEARNED, BY_MEMORY, *BATCH_SECOND[:-1], LAST_BATCH_SECOND),
        {"norm", "norm's place", "feed-forward", "positions", "ties"},
    ),
}  # fmt: skip
