"""An encoder–decoder, written down from the paper. It trains, and nothing raises an error."""

import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_k = n_heads, d_model // n_heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def split(self, x):
        return x.view(len(x), -1, self.n_heads, self.d_k).transpose(1, 2)

    def forward(self, query, key, value, mask):
        q, k = self.split(self.w_q(query)), self.split(self.w_k(key))
        v = self.split(self.w_v(value))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        scores = scores.masked_fill(mask == 0, -1e9)
        heads = scores.softmax(dim=-1) @ v
        merged = heads.transpose(1, 2).reshape(len(query), -1, self.n_heads * self.d_k)
        return self.w_o(merged)


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.inner, self.outer = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.outer(torch.relu(self.inner(x)))


class Positions(nn.Module):
    def __init__(self, d_model, max_len=512):
        super().__init__()
        table = torch.zeros(max_len, d_model)
        for position in range(max_len):
            for pair in range(0, d_model, 2):
                table[position, pair] = math.sin(position / 10000 ** (pair / d_model))
                table[position, pair + 1] = math.cos(position / 10000 ** (pair / d_model))
        self.register_buffer("table", table)

    def forward(self, x):
        return x + self.table[: x.shape[1]]


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask):
        x = self.norm1(x + self.dropout(self.attention(x, x, x, mask)))
        return self.norm2(x + self.dropout(self.feed_forward(x)))


class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.look = MultiHeadAttention(d_model, n_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask, source_mask):
        y = self.norm1(y + self.dropout(self.attention(y, y, y, target_mask)))
        y = self.norm2(y + self.dropout(self.look(y, memory, memory, source_mask)))
        return self.norm3(y + self.dropout(self.feed_forward(y)))


class Translator(nn.Module):
    def __init__(self, vocab_size=60, d_model=32, n_heads=4, d_ff=64, n_layers=2, dropout=0.1):
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
        self.positions = Positions(d_model)
        sizes = d_model, n_heads, d_ff, dropout
        self.encoder = nn.ModuleList([EncoderLayer(*sizes) for _ in range(n_layers)])
        self.decoder = nn.ModuleList([DecoderLayer(*sizes) for _ in range(n_layers)])
        self.dropout = nn.Dropout(dropout)

    def embed(self, ids):
        return self.dropout(self.positions(self.embedding(ids) * math.sqrt(self.d_model)))

    def forward(self, source, target):
        source_mask = (source != 0)[:, None, None, :]
        no_future = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).tril()
        target_mask = (target != 0)[:, None, None, :] & no_future
        x = self.embed(source)
        for layer in self.encoder:
            x = layer(x, source_mask)
        y = self.embed(target)
        for layer in self.decoder:
            y = layer(y, x, target_mask, source_mask)
        return y @ self.embedding.weight.T
