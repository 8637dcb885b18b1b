"""A Transformer in one file: "Attention Is All You Need", 3.1 to 3.5, and a loop that trains it.

Shapes: tokens (batch, length); vectors (batch, length, d_model). Masks: True = may attend.
Token ids: 0 is padding, 1 the start of a target sentence, 2 the end of any sentence.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

PAD, START, END = 0, 1, 2


# 1 · Scaled dot-product attention · 3.2.1


def scaled_dot_product_attention(query, key, value, attend_mask):
    """Return softmax(QKᵀ / √d_k) V; a query that may attend to nothing gets zeros."""
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    scores = scores.masked_fill(~attend_mask, -math.inf)
    weights = scores.softmax(dim=-1)
    weights = weights.masked_fill(~attend_mask.any(dim=-1, keepdim=True), 0.0)
    return weights @ value


# 2 · Masks · 3.1, 3.2.3


def padding_mask(tokens):
    """Return (batch, 1, 1, length): every query may attend to words, none to padding."""
    return (tokens != PAD)[:, None, None, :]


def causal_mask(query_len, key_len):
    """Return (query_len, key_len): the last positions see themselves and what is before them."""
    return torch.ones(query_len, key_len, dtype=torch.bool).tril(key_len - query_len)


# 3 · Multi-head attention · 3.2.2


def split_heads(x, n_heads):
    """Return (batch, n_heads, length, d_k) from (batch, length, n_heads · d_k)."""
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def merge_heads(heads):
    """Return (batch, length, n_heads · d_k) from (batch, n_heads, length, d_k)."""
    return heads.transpose(1, 2).flatten(-2)


class MultiHeadAttention(nn.Module):
    """Concat(head_1, …, head_h) W^O; head_i has its own slice of queries, keys and values."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query_proj = nn.Linear(d_model, d_model)
        self.key_proj = nn.Linear(d_model, d_model)
        self.value_proj = nn.Linear(d_model, d_model)
        self.output_proj = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, attend_mask):
        """Return (batch, query_len, d_model)."""
        q = split_heads(self.query_proj(query), self.n_heads)
        k = split_heads(self.key_proj(key), self.n_heads)
        v = split_heads(self.value_proj(value), self.n_heads)
        heads = scaled_dot_product_attention(q, k, v, attend_mask)
        return self.output_proj(merge_heads(heads))


# 4 · Feed-forward network · 3.3


class FeedForward(nn.Module):
    """max(0, x W1 + b1) W2 + b2, the same at every position."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.expand = nn.Linear(d_model, d_ff)
        self.contract = nn.Linear(d_ff, d_model)

    def forward(self, x):
        """Return the shape of x."""
        return self.contract(torch.relu(self.expand(x)))


# 5 · Embedding and output · 3.4


class TokenEmbedding(nn.Module):
    """One matrix (vocab_size, d_model): a word's row goes in, and every row answers."""

    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model) / math.sqrt(d_model))

    def forward(self, tokens):
        """Return the rows of the tokens, times √d_model."""
        return F.embedding(tokens, self.weight) * math.sqrt(self.weight.shape[1])

    def project(self, states):
        """Return the logits, (batch, length, vocab_size)."""
        return states @ self.weight.T


# 6 · Positions · 3.5


def positional_encoding(length, d_model):
    """Return (length, d_model): sin(pos / 10000^(2i/d_model)) in column 2i, cos in 2i + 1."""
    position = torch.arange(length, dtype=torch.float64)[:, None]
    angle = position / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2).float()


# 7 · Residual connection and layer norm · 3.1, 5.4


def layer_norm(x, gain, bias, eps):
    """Return x with mean 0 and variance 1 over its last dimension, times gain, plus bias."""
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.pow(2).mean(dim=-1, keepdim=True)
    return gain * centred / (variance + eps).sqrt() + bias


class ResidualNorm(nn.Module):
    """LayerNorm(x + Dropout(Sublayer(x)))."""

    def __init__(self, d_model, dropout):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, sublayer):
        """Return the shape of x; `sublayer` is a function of x."""
        return layer_norm(x + self.dropout(sublayer(x)), self.gain, self.bias, 1e-5)


# 8 · Encoder layer · 3.1, the left of Figure 1


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network."""

    def __init__(self, d_model, n_heads, d_ff, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.residuals = nn.ModuleList([ResidualNorm(d_model, dropout) for _ in range(2)])

    def forward(self, x, source_mask):
        """Return the shape of x."""
        x = self.residuals[0](x, lambda x: self.self_attention(x, x, x, source_mask))
        return self.residuals[1](x, self.feed_forward)


# 9 · Decoder layer · 3.1, the right of Figure 1


class DecoderLayer(nn.Module):
    """Masked self-attention, attention to the encoder's output, the feed-forward network."""

    def __init__(self, d_model, n_heads, d_ff, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads)
        self.cross_attention = MultiHeadAttention(d_model, n_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.residuals = nn.ModuleList([ResidualNorm(d_model, dropout) for _ in range(3)])

    def forward(self, y, memory, target_mask, source_mask):
        """Return the shape of y; `memory` is what the last encoder layer returned."""
        y = self.residuals[0](y, lambda y: self.self_attention(y, y, y, target_mask))
        y = self.residuals[1](y, lambda y: self.cross_attention(y, memory, memory, source_mask))
        return self.residuals[2](y, self.feed_forward)


# 10 · The model · 3, Figure 1


class Transformer(nn.Module):
    """From source tokens and the target tokens so far to logits for the token after each."""

    def __init__(self, vocab_size, d_model=128, n_heads=4, n_layers=2, d_ff=256, dropout=0.1):
        super().__init__()
        sizes = d_model, n_heads, d_ff, dropout
        self.embedding = TokenEmbedding(vocab_size, d_model)
        self.dropout = nn.Dropout(dropout)
        self.encoder = nn.ModuleList([EncoderLayer(*sizes) for _ in range(n_layers)])
        self.decoder = nn.ModuleList([DecoderLayer(*sizes) for _ in range(n_layers)])

    def embed(self, tokens):
        """Return what enters a stack: embeddings plus positions, and dropout."""
        x = self.embedding(tokens)
        return self.dropout(x + positional_encoding(*x.shape[1:]))

    def forward(self, source, target):
        """Return (batch, target_len, vocab_size)."""
        source_mask = padding_mask(source)
        target_len = target.shape[1]
        target_mask = padding_mask(target) & causal_mask(target_len, target_len)
        x = self.embed(source)
        for layer in self.encoder:
            x = layer(x, source_mask)
        y = self.embed(target)
        for layer in self.decoder:
            y = layer(y, x, target_mask, source_mask)
        return self.embedding.project(y)


# The loop · 5.3, 5.4


def train(model, batches, n_updates):
    """Make an update of each batch (source, target), and yield its loss."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9)
    warmup, peak = n_updates // 6, 3e-3
    model.train()
    for update, (source, target) in enumerate(batches, start=1):
        logits = model(source, target[:, :-1])
        loss = F.cross_entropy(
            logits.flatten(0, 1),
            target[:, 1:].flatten(),
            ignore_index=PAD,
            label_smoothing=0.1,
        )
        optimizer.zero_grad()
        loss.backward()
        rise, fall = update / warmup, (n_updates + 1 - update) / (n_updates + 1 - warmup)
        for group in optimizer.param_groups:
            group["lr"] = peak * min(rise, fall)
        optimizer.step()
        yield loss.item()
