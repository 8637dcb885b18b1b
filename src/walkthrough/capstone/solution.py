"""My Transformer: "Attention Is All You Need", 3.1 to 3.5, in one file that needs torch alone.

Ten stubs, in the order of the book. Write one, then ask:  python -m walkthrough.capstone check
Keep the names of functions, classes and parameters, and those that a stub calls `self.…`: the
book's trained weights are loaded by them.

Shapes: tokens (batch, length); vectors (batch, length, d_model). Masks: True = may attend.
Token ids: 0 is padding, 1 the start of a target sentence, 2 the end of any sentence.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

PAD, START, END = 0, 1, 2


# 1 · Scaled dot-product attention · 3.2.1
# {site}02-scaled-dot-product-attention.html#the-formula-and-its-code


def scaled_dot_product_attention(query, key, value, attend_mask):
    """Return softmax(QKᵀ / √d_k) V.

    query (…, query_len, d_k), key (…, key_len, d_k), value (…, key_len, d_v), attend_mask boolean,
    broadcasts to (…, query_len, key_len). Returns (…, query_len, d_v).

    - Scores are the products of each query with each key, divided by the root of their length d_k.
    - Where the mask is False the score is −∞; softmax runs over the keys.
    - A query that may attend to nothing gets zeros, not NaN.
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    scores = scores.masked_fill(~attend_mask, -math.inf)
    weights = scores.softmax(dim=-1)
    weights = weights.masked_fill(~attend_mask.any(dim=-1, keepdim=True), 0.0)
    return weights @ value


# 2 · Masks · 3.1, 3.2.3
# {site}03-masks.html#three-attentions-three-masks


def padding_mask(tokens):
    """Say which keys are words.

    tokens (batch, length), ids. Returns (batch, 1, 1, length), boolean.

    - True where the token is not `PAD`, so that no query attends to padding.
    - The two ones stand for heads and queries: all of them have the same mask.
    - It is made of the keys' tokens: of the source for two attentions, of the target for one.
    """
    return (tokens != PAD)[:, None, None, :]


def causal_mask(query_len, key_len):
    """Say which keys are not later than the query.

    Two whole numbers, query_len ≤ key_len. Returns (query_len, key_len), boolean.

    - A position may attend to itself and to what stands before it.
    - With as many queries as keys it is the lower triangle.
    - With fewer queries, these are the last positions: the last rows of the square.
    """
    return torch.ones(query_len, key_len, dtype=torch.bool).tril(key_len - query_len)


# 3 · Multi-head attention · 3.2.2
# {site}04-multi-head-attention.html#split-and-merge


def split_heads(x, n_heads):
    """Give each head its slice of every vector.

    x (batch, length, n_heads · d_k). Returns (batch, n_heads, length, d_k).

    - The first d_k numbers of a vector are the first head's, the next d_k the second's.
    - Cut the last dimension in two, (n_heads, d_k).
    - Then exchange heads and words, so that attention finds (length, d_k) at the end.
    """
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def merge_heads(heads):
    """Put the heads side by side again: Concat(head_1, …, head_h).

    heads (batch, n_heads, length, d_k). Returns (batch, length, n_heads · d_k).

    - It undoes `split_heads`.
    - Exchange words and heads first.
    - Then join the last two dimensions.
    """
    return heads.transpose(1, 2).flatten(-2)


class MultiHeadAttention(nn.Module):
    """Several attentions at once, mixed by W^O.

    - `self.query_proj`, `self.key_proj`, `self.value_proj` and `self.output_proj` are
      `nn.Linear(d_model, d_model)`; each of the first three holds its matrices of all heads. Store
      `n_heads` as well.
    - Project queries, keys and values, split them, attend, merge, project the result.
    - One mask serves all heads; d_k = d_model / n_heads.
    """

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query_proj = nn.Linear(d_model, d_model)
        self.key_proj = nn.Linear(d_model, d_model)
        self.value_proj = nn.Linear(d_model, d_model)
        self.output_proj = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, attend_mask):
        """Return (batch, query_len, d_model).

        query (batch, query_len, d_model), key and value (batch, key_len, d_model), attend_mask
        broadcasts to (batch, n_heads, query_len, key_len).
        """
        q = split_heads(self.query_proj(query), self.n_heads)
        k = split_heads(self.key_proj(key), self.n_heads)
        v = split_heads(self.value_proj(value), self.n_heads)
        heads = scaled_dot_product_attention(q, k, v, attend_mask)
        return self.output_proj(merge_heads(heads))


# 4 · Feed-forward network · 3.3
# {site}05-feed-forward.html#one-network-for-every-word-says-the-paper


class FeedForward(nn.Module):
    """What a word does alone: max(0, x W1 + b1) W2 + b2.

    - `self.expand` is `nn.Linear(d_model, d_ff)`: W1 and b1.
    - `self.contract` is `nn.Linear(d_ff, d_model)`: W2 and b2.
    - ReLU between them, and nowhere else.
    """

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.expand = nn.Linear(d_model, d_ff)
        self.contract = nn.Linear(d_ff, d_model)

    def forward(self, x):
        """Return (batch, length, d_model), from the same shape."""
        return self.contract(torch.relu(self.expand(x)))


# 5 · Embedding and output · 3.4
# {site}06-embeddings-and-softmax.html#one-matrix-says-the-paper


class TokenEmbedding(nn.Module):
    """One matrix for words that go in and for words that come out.

    - `self.weight` is an `nn.Parameter` (vocab_size, d_model), drawn from a normal distribution
      with standard deviation d_model^−0.5.
    - A token's vector is its row, times √d_model.
    - The logit of a word is the product of the decoder's vector with the word's row, not scaled.
    """

    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model) / math.sqrt(d_model))

    def forward(self, tokens):
        """Return (batch, length, d_model), from ids (batch, length)."""
        return F.embedding(tokens, self.weight) * math.sqrt(self.weight.shape[1])

    def project(self, states):
        """Return the logits (batch, length, vocab_size), from (batch, length, d_model)."""
        return states @ self.weight.T


# 6 · Positions · 3.5
# {site}07-positional-encoding.html#the-formula-on-five-words


def positional_encoding(length, d_model):
    """Return the table of sinusoids, (length, d_model).

    Two whole numbers; positions count from 0, and d_model is even.

    - Column 2i holds sin(pos / 10000^(2i / d_model)).
    - Column 2i + 1 holds the cosine of the same angle.
    - Sines and cosines take turns: the first row is 0, 1, 0, 1, …
    """
    position = torch.arange(length, dtype=torch.float64)[:, None]
    angle = position / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2).float()


# 7 · Residual connection and layer norm · 3.1, 5.4
# {site}08-residuals-and-layer-norm.html#one-word-normalised


def layer_norm(x, gain, bias, eps):
    """Normalise each vector by itself.

    x (…, d_model), gain and bias (d_model,), eps a small number. Returns the shape of x.

    - Subtract the mean of the vector's numbers and divide by the root of (variance + eps).
    - The variance divides by d_model, not by d_model − 1.
    - Multiply by gain, add bias.
    """
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.pow(2).mean(dim=-1, keepdim=True)
    return gain * centred / (variance + eps).sqrt() + bias


class ResidualNorm(nn.Module):
    """The connection around every sub-layer: LayerNorm(x + Dropout(Sublayer(x))).

    - `self.gain` and `self.bias` are `nn.Parameter` (d_model,) that begin at 1 and 0.
    - `self.dropout` is `nn.Dropout(dropout)`; it acts on what the sub-layer returns.
    - The sum is normalised, with eps 1e-5: post-norm, as in the paper.
    """

    def __init__(self, d_model, dropout):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, sublayer):
        """Return (batch, length, d_model); `sublayer` is a function of x."""
        return layer_norm(x + self.dropout(sublayer(x)), self.gain, self.bias, 1e-5)


# 8 · Encoder layer · 3.1, the left of Figure 1
# {site}09-encoder-and-decoder.html#two-stacks


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network.

    - `self.self_attention` and `self.feed_forward`; `self.residuals` is an `nn.ModuleList` of two
      `ResidualNorm`.
    - In self-attention a word asks, answers and hands over: query, key and value are x.
    - Each sub-layer stands inside its `ResidualNorm`.
    """

    def __init__(self, d_model, n_heads, d_ff, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.residuals = nn.ModuleList([ResidualNorm(d_model, dropout) for _ in range(2)])

    def forward(self, x, source_mask):
        """Return (batch, source_len, d_model); source_mask (batch, 1, 1, source_len)."""
        x = self.residuals[0](x, lambda x: self.self_attention(x, x, x, source_mask))
        return self.residuals[1](x, self.feed_forward)


# 9 · Decoder layer · 3.1, the right of Figure 1
# {site}09-encoder-and-decoder.html#the-decoder-reads-it-in-every-layer


class DecoderLayer(nn.Module):
    """Masked self-attention, attention to the encoder's output, the feed-forward network.

    - `self.self_attention`, `self.cross_attention`, `self.feed_forward`; `self.residuals` is an
      `nn.ModuleList` of three `ResidualNorm`, in this order.
    - In self-attention all three are y; across, y asks and `memory` is key and value.
    - The target's mask belongs to the first attention, the source's to the second.
    """

    def __init__(self, d_model, n_heads, d_ff, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads)
        self.cross_attention = MultiHeadAttention(d_model, n_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.residuals = nn.ModuleList([ResidualNorm(d_model, dropout) for _ in range(3)])

    def forward(self, y, memory, target_mask, source_mask):
        """Return (batch, target_len, d_model).

        y (batch, target_len, d_model), memory (batch, source_len, d_model), target_mask
        (batch, 1, target_len, target_len), source_mask (batch, 1, 1, source_len).
        """
        y = self.residuals[0](y, lambda y: self.self_attention(y, y, y, target_mask))
        y = self.residuals[1](y, lambda y: self.cross_attention(y, memory, memory, source_mask))
        return self.residuals[2](y, self.feed_forward)


# 10 · The model · 3, Figure 1
# {site}09-encoder-and-decoder.html#two-stacks


class Transformer(nn.Module):
    """From source tokens and the target tokens so far to logits for the token after each.

    - `self.embedding` is one `TokenEmbedding` for source, target and output; `self.encoder` and
      `self.decoder` are `nn.ModuleList`s of n_layers layers each; `self.dropout` is `nn.Dropout`.
      Nothing more is drawn: each `nn.Linear` keeps the start that PyTorch gives it.
    - Embeddings plus positions, with dropout on the sum, enter each stack; every decoder layer
      gets what the last encoder layer returned.
    - The model makes its masks: padding of the source; padding and the future of the target.
    """

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
        """Return logits (batch, target_len, vocab_size).

        source (batch, source_len) and target (batch, target_len) hold ids, padded on the right.
        """
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


# The loop · 5.3, 5.4: when the model is right, `python -m walkthrough.capstone train` runs it
# {site}14-the-training-run.html#five-lines-make-an-update


def train(model, batches, n_updates):
    """Make one update of each batch, and `yield` its loss: a float, the mean per token, smoothed.

    `batches` yields n_updates pairs (source, target) of ids: source (batch, source_len) ends with
    `END`, target (batch, target_len) begins with `START` and ends with `END`, both padded.

    - Begin with `model.train()`. The model reads all of the target but its last column, and
      predicts all but its first: `F.cross_entropy` with `label_smoothing=0.1, ignore_index=PAD`.
    - An update is: gradients to zero, `loss.backward()`, the rate, one step of Adam with betas
      (0.9, 0.98) and eps 1e-9.
    - In update n = 1 … N the rate is 3e-3 · min(n / W, (N + 1 − n) / (N + 1 − W)), W = N // 6.
    """
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
