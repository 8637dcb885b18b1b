"""A Transformer in one file, as somebody writes it down from the paper: broken line by line."""

import math

import torch
from torch import nn


def positions(length, d_model):
    place, c = torch.arange(length)[:, None], torch.arange(0, d_model, 2)
    angle = place / 10000 ** (c / d_model)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2)


class Attention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_k = n_heads, d_model // n_heads
        self.q, self.k = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.v, self.o = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def split(self, x):
        return x.view(len(x), -1, self.n_heads, self.d_k).transpose(1, 2)

    def forward(self, query, key, mask):
        q, k, v = self.split(self.q(query)), self.split(self.k(key)), self.split(self.v(key))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        scores = scores.masked_fill(~mask, -1e9)
        weights = scores.softmax(-1)
        heads = weights @ v
        return self.o(heads.transpose(1, 2).reshape(query.shape))


class Norm(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.gain, self.bias = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        mean, var = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
        return self.gain * (x - mean) / (var + 1e-6).sqrt() + self.bias


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.wide, self.narrow = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.narrow(self.wide(x).relu())


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, p):
        super().__init__()
        self.look, self.feed = Attention(d_model, n_heads), FeedForward(d_model, d_ff)
        self.norms, self.drop = nn.ModuleList(Norm(d_model) for _ in range(2)), nn.Dropout(p)

    def forward(self, x, mask):
        x = self.norms[0](x + self.drop(self.look(x, x, mask)))
        y = self.norms[1](x + self.drop(self.feed(x)))
        return y


class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, p):
        super().__init__()
        self.back, self.across = Attention(d_model, n_heads), Attention(d_model, n_heads)
        self.feed, self.drop = FeedForward(d_model, d_ff), nn.Dropout(p)
        self.norms = nn.ModuleList(Norm(d_model) for _ in range(3))

    def forward(self, x, memory, past, mask):
        y = self.norms[0](x + self.drop(self.back(x, x, past)))
        z = self.norms[1](y + self.drop(self.across(y, memory, mask)))
        return self.norms[2](z + self.drop(self.feed(z)))


class Plain(nn.Module):
    def __init__(self, n_words=60, d_model=32, n_heads=4, n_layers=2, d_ff=64, p=0.1, max_len=64):
        super().__init__()
        self.d_model = d_model
        self.words = nn.Embedding(n_words, d_model)
        nn.init.normal_(self.words.weight, std=d_model**-0.5)
        self.register_buffer("table", positions(max_len, d_model))
        self.encoder = nn.ModuleList(
            EncoderLayer(d_model, n_heads, d_ff, p) for _ in range(n_layers)
        )
        self.decoder = nn.ModuleList(
            DecoderLayer(d_model, n_heads, d_ff, p) for _ in range(n_layers)
        )
        self.out = nn.Linear(d_model, n_words, bias=False)
        self.out.weight = self.words.weight
        self.drop = nn.Dropout(p)

    def embed(self, ids):
        x = self.words(ids) * math.sqrt(self.d_model)
        x = x + self.table[: ids.shape[1]]
        return self.drop(x)

    def encode(self, source, mask):
        x = self.embed(source)
        for layer in self.encoder:
            x = layer(x, mask)
        return x

    def forward(self, source, target):
        mask = (source != 0)[:, None, None, :]
        length = target.shape[1]
        past = torch.ones(length, length, dtype=torch.bool).tril()
        past = past & (target != 0)[:, None, None, :]
        memory = self.encode(source, mask)
        x = self.embed(target)
        for layer in self.decoder:
            x = layer(x, memory, past, mask)
        return self.out(x)
