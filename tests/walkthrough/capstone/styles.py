"""Right files in other styles: the right file with parts of it written in another way."""

import re
from pathlib import Path

from walkthrough.capstone.slips import SOLUTION
from walkthrough.ch23_is_yours_right import somebodys

RIGHT = SOLUTION.read_text(encoding="utf-8")
PLAIN = Path(__file__).parents[1] / "doctor" / "plain.py"


def exchanged(*pairs, text=RIGHT):
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


def part(name, new):
    """Return the right file with another function or class in the place of this one."""
    start = max(RIGHT.find(f"\n{kind} {name}(") for kind in ("def", "class")) + 1
    return RIGHT[:start] + new.strip() + RIGHT[RIGHT.find("\n\n\n", start) :]


def renamed(**names):
    text = RIGHT
    for old, new in names.items():
        text = re.sub(rf"(?<!F\.)\b{old}\b", new, text)
    return text


FUSED = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h = n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, attend_mask):
        d = query.shape[-1]
        w, b = self.qkv.weight, self.qkv.bias
        q = F.linear(query, w[:d], b[:d])
        k = F.linear(key, w[d : 2 * d], b[d : 2 * d])
        v = F.linear(value, w[2 * d :], b[2 * d :])
        q, k, v = (split_heads(x, self.h) for x in (q, k, v))
        return self.out(merge_heads(scaled_dot_product_attention(q, k, v, attend_mask)))
"""
LOOPS = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.d_k = d_model // n_heads
        self.value_proj = nn.Linear(d_model, d_model)
        self.key_proj = nn.Linear(d_model, d_model)
        self.query_proj = nn.Linear(d_model, d_model)
        self.output_proj = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, attend_mask):
        q, k, v = self.query_proj(query), self.key_proj(key), self.value_proj(value)
        heads = []
        for i in range(0, q.shape[-1], self.d_k):
            part = slice(i, i + self.d_k)
            scores = q[..., part] @ k[..., part].mT / self.d_k**0.5
            scores = scores.masked_fill(~attend_mask[:, 0], -1e9)
            heads.append(torch.softmax(scores, -1) @ v[..., part])
        return self.output_proj(torch.cat(heads, -1))
"""
HEADS = """
class Head(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(d_model, d_k) for _ in range(3))

    def forward(self, query, key, value, attend_mask):
        q, k, v = self.q(query), self.k(key), self.v(value)
        return scaled_dot_product_attention(q, k, v, attend_mask[:, 0])


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.heads = nn.ModuleList([Head(d_model, d_model // n_heads) for _ in range(n_heads)])
        self.mix = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, attend_mask):
        return self.mix(torch.cat([h(query, key, value, attend_mask) for h in self.heads], -1))
"""
EINSUM = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n, self.scale = n_heads, (d_model // n_heads) ** -0.5
        self.wk, self.wv, self.wq, self.wo = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, query, key, value, attend_mask):
        q, k, v = (
            w(x).unflatten(-1, (self.n, -1))
            for w, x in ((self.wq, query * self.scale), (self.wk, key), (self.wv, value))
        )
        bias = self.wq.bias.view(self.n, -1) * (1 - self.scale)
        scores = torch.einsum("bqhd,bkhd->bhqk", q - bias, k)
        weights = scores.masked_fill(~attend_mask, float("-inf")).softmax(-1)
        return self.wo(torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2))
"""
RAW = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (
            nn.Parameter(torch.randn(d_model, d_model) / 10) for _ in range(4)
        )
        self.b_q, self.b_k, self.b_v, self.b_o = (
            nn.Parameter(torch.zeros(d_model)) for _ in range(4)
        )

    def forward(self, query, key, value, attend_mask):
        q, k = query @ self.w_q + self.b_q, key @ self.w_k + self.b_k
        v = value @ self.w_v + self.b_v
        q, k, v = (split_heads(x, self.n_heads) for x in (q, k, v))
        return merge_heads(scaled_dot_product_attention(q, k, v, attend_mask)) @ self.w_o + self.b_o
"""
TORCH = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.inner = nn.MultiheadAttention(d_model, n_heads, batch_first=True)

    def forward(self, query, key, value, attend_mask):
        shape = len(query), self.n_heads, query.shape[1], key.shape[1]
        closed = ~attend_mask.expand(shape).reshape(-1, *shape[2:])
        return self.inner(query, key, value, attn_mask=closed, need_weights=False)[0]
"""
NORM = """
class ResidualNorm(nn.Module):
    def __init__(self, d_model, dropout):
        super().__init__()
        self.drop, self.norm = nn.Dropout(dropout), nn.LayerNorm(d_model)

    def forward(self, x, sublayer):
        return self.norm(x + self.drop(sublayer(x)))
"""
TABLE = """
class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.table, self.d = nn.Embedding(vocab_size, d_model, padding_idx=0), d_model
        nn.init.trunc_normal_(self.table.weight, std=d_model**-0.5)

    def forward(self, tokens):
        return self.table(tokens) * self.d**0.5

    def project(self, states):
        return F.linear(states, self.table.weight)
"""
DROPPED = """
class ResidualNorm(nn.Module):
    def __init__(self, d_model, dropout):
        super().__init__()
        self.norm, self.p = nn.LayerNorm(d_model), dropout

    def forward(self, x, sublayer):
        y = sublayer(x)
        if self.training:
            y = y * (torch.rand_like(y) >= self.p) / (1 - self.p)
        return self.norm(x + y)
"""
FUSED_SDPA = """
def scaled_dot_product_attention(query, key, value, attend_mask):
    attend_mask = torch.atleast_2d(attend_mask)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=attend_mask)
"""
UNTIED = [
    ("self.embedding = TokenEmbedding(vocab_size, d_model)",
     "self.embedding = TokenEmbedding(vocab_size, d_model)\n"
     "        self.target_words = nn.Embedding(vocab_size, d_model)\n"
     "        self.out = nn.Linear(d_model, vocab_size, bias=False)"),
    ("y = self.embed(target)",
     "y = self.target_words(target) * 128**0.5\n"
     "        y = self.dropout(y + positional_encoding(*y.shape[1:]))"),
    ("return self.embedding.project(y)", "return self.out(y)"),
]  # fmt: skip
LENGTH_FIRST = [
    ("view(len(x), -1, self.n_heads, self.d_k).transpose(1, 2)",
     "view(len(x), -1, self.n_heads, self.d_k).permute(1, 2, 0, 3)"),
    ("heads.transpose(1, 2).reshape(len(query), -1, self.n_heads * self.d_k)",
     "heads.permute(2, 0, 1, 3).flatten(2)"),
    ("x + self.table[: x.shape[1]]", "x + self.table[: len(x), None]"),
    ("self.embed(source)", "self.embed(source.T)"),
    ("self.embed(target)", "self.embed(target.T)"),
    ("return y @ self.embedding.weight.T", "return (y @ self.embedding.weight.T).transpose(0, 1)"),
]  # fmt: skip
SOMEBODYS = Path(somebodys.__file__).read_text(encoding="utf-8")

STYLES = {
    "other names": renamed(
        query_proj="w_q", key_proj="w_k", value_proj="w_v", output_proj="fc", expand="w_1",
        contract="w_2", embedding="words", residuals="sublayers", self_attention="attn",
        cross_attention="src_attn", encoder="enc_layers", decoder="dec_layers", gain="a",
    ),
    "one projection for queries, keys and values": part("MultiHeadAttention", FUSED),
    "a loop over heads, and values first": part("MultiHeadAttention", LOOPS),
    "a module a head": part("MultiHeadAttention", HEADS),
    "einsum and scaled queries": part("MultiHeadAttention", EINSUM),
    "matrices without nn.Linear": part("MultiHeadAttention", RAW),
    "torch's own attention": part("MultiHeadAttention", TORCH),
    "torch's fused attention": part("scaled_dot_product_attention", FUSED_SDPA),
    "torch's layer norm": part("ResidualNorm", NORM),
    "torch's embedding": part("TokenEmbedding", TABLE),
    "dropout by hand": part("ResidualNorm", DROPPED),
    "three matrices of words": exchanged(*UNTIED),
    "somebody's whole file": SOMEBODYS,
    "another's whole file": PLAIN.read_text(encoding="utf-8"),
    "length first": exchanged(*LENGTH_FIRST, text=SOMEBODYS.replace("Layer", "Part").replace(
        "MultiHeadAttention", "Look").replace("nn.PartNorm", "nn.LayerNorm")),
}  # fmt: skip
