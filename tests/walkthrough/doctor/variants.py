# ruff: noqa: E501
"""The plain model with one line exchanged: what the doctor has to say of each."""

import types
from pathlib import Path

import torch

SOURCE = Path(__file__).with_name("plain.py").read_text(encoding="utf-8")


def built(*changes):
    """Return a plain model; each change is a pair of old and new text."""
    text = SOURCE
    for old, new in changes:
        assert text.count(old) >= 1, f"not in the file: {old!r}"
        text = text.replace(old, new)
    module = types.ModuleType("plain_variant")
    exec(compile(text, "plain_variant.py", "exec"), vars(module))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return module.Plain()


ATTEND = "        weights = scores.softmax(-1)\n"
MERGE = "heads.transpose(1, 2).reshape(query.shape)"
SPLIT = "x.view(len(x), -1, self.n_heads, self.d_k).transpose(1, 2)"
CAUSAL = "torch.ones(length, length, dtype=torch.bool).tril()"
MASK = "mask = (source != 0)[:, None, None, :]"
LAYERS = "EncoderLayer(d_model, n_heads, d_ff, p) for _ in range(n_layers)"
WRONG_TABLE = "c / d_model)"

# name → (old, new), list, finding, words that its line has
BROKEN = {
    "no causal mask": (
        (CAUSAL, CAUSAL.replace(".tril()", "")),
        "bugs",
        "future",
        "every later word",
    ),
    "one too far": (
        (CAUSAL, CAUSAL.replace("tril()", "tril(1)")),
        "bugs",
        "future",
        "one place too far",
    ),
    "mask turned round": (
        (CAUSAL, CAUSAL.replace("tril", "triu")),
        "bugs",
        "future",
        "self-attention is open",
    ),
    "result of masked_fill lost": (
        ("scores = scores.masked_fill", "scores.masked_fill"),
        "bugs",
        "future",
        "every later word",
    ),
    "causal in training only": (
        (
            "past = past & (target",
            "past = past if self.training else torch.ones_like(past)\n        past = past & (target",
        ),
        "bugs",
        "future",
        "in evaluation only",
    ),
    "causal in evaluation only": (
        (
            "past = past & (target",
            "past = torch.ones_like(past) if self.training else past\n        past = past & (target",
        ),
        "bugs",
        "future",
        "in training only",
    ),
    "True means hidden": (
        ("masked_fill(~mask", "masked_fill(mask"),
        "bugs",
        "future",
        "self-attention is open",
    ),
    "weak mask": (("-1e9", "-4.0"), "bugs", "future", "every later word"),
    "zeros behind the softmax": (
        (
            ATTEND,
            ATTEND.replace(
                "scores.softmax(-1)",
                "q.new_tensor(0) + (q @ k.transpose(-2, -1)).softmax(-1) * mask",
            ),
        ),
        "bugs",
        "future",
        "do not add up to 1",
    ),
    "softmax over queries": (
        (ATTEND, ATTEND.replace("-1", "-2")),
        "bugs",
        "softmax",
        "does not run over the keys",
    ),
    "softmax over heads": (
        (ATTEND, ATTEND.replace("-1", "1")),
        "bugs",
        "softmax",
        "does not run over the keys",
    ),
    "merged without transposing": (
        (MERGE, "heads.reshape(query.shape)"),
        "bugs",
        "heads",
        "merged across positions",
    ),
    "split without transposing": (
        (SPLIT, "x.view(len(x), self.n_heads, -1, self.d_k)"),
        "bugs",
        "heads",
        "split into heads",
    ),
    "source padding open": (
        (MASK, "mask = torch.ones_like(source)[:, None, None, :].bool()"),
        "bugs",
        "padding",
        "encoder's self-attention (2 of 2 maps) and in the attention to the source",
    ),
    "memory's padding open": (
        ("self.across(y, memory, mask)", "self.across(y, memory, mask | True)"),
        "bugs",
        "padding",
        "in the attention to the source (2 of 2 maps)",
    ),
    "encoder's padding open": (
        ("self.look(x, x, mask)", "self.look(x, x, mask | True)"),
        "bugs",
        "padding",
        "encoder's self-attention (2 of 2",
    ),
    "first pad open": (
        (MASK, "mask = torch.cat([source[:, :1] != -1, source[:, :-1] != 0], 1)[:, None, None, :]"),
        "bugs",
        "padding",
        "three tokens 0 behind",
    ),
    "rows of padding in place of columns": (
        (MASK, "mask = (source != 0)[:, None, :, None]"),
        "bugs",
        None,
        "",
    ),
    "last word closed": (
        (MASK, "mask = torch.cat([source[:, 1:] != 0, source[:, :1] == -1], 1)[:, None, None, :]"),
        "bugs",
        None,
        "",
    ),
    "another sentence's mask": (
        (MASK, MASK.replace("!= 0)", "!= 0).roll(1, 0)")),
        "bugs",
        "batch",
        "",
    ),
    "mean over the batch": (
        ("x = self.embed(source)", "x = self.embed(source)\n        x = x - x.mean(0)"),
        "bugs",
        "batch",
        "cause not found",
    ),
    "batch norm": (
        (
            "self.norms, self.drop = nn.ModuleList(Norm(d_model) for _ in range(2)), nn.Dropout(p)",
            "B = nn.BatchNorm1d\n        self.norms = [lambda x, n=n: n(x.transpose(1, 2)).transpose(1, 2) for n in (B(d_model), B(d_model))]\n"
            "        self.drop, self.n = nn.Dropout(p), B(d_model)",
        ),
        "bugs",
        "batch",
        "",
    ),
    "norm over positions": (
        (
            "x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)",
            "x.mean((-2, -1), keepdim=True), x.var((-2, -1), keepdim=True, correction=0)",
        ),
        "bugs",
        "future",
        "mean over positions",
    ),
    "no positions": (
        ("        x = x + self.table[: ids.shape[1]]\n", ""),
        "bugs",
        "order",
        "Nothing was seen",
    ),
    "positions along the batch": (
        ("self.table[: ids.shape[1]]", "self.table[: len(ids), None]"),
        "bugs",
        "order",
        "along the batch",
    ),
    "positions of the source only": (
        ("x = self.embed(target)", "x = self.words(target) * math.sqrt(self.d_model)"),
        "bugs",
        "order",
        "The target has no",
    ),
    "exponent twice": ((WRONG_TABLE, "2 * c / d_model)"), "bugs", "positions", "twice too large"),
    "multiplied": (
        ("place / 10000", "place * 10000"),
        "bugs",
        "positions",
        "multiplied by the wavelength",
    ),
    "sines only": (("angle.cos()], -1)", "angle.sin()], -1)"), "bugs", "positions", "sines only"),
    "written-in positions": (
        ("self.table[: ids.shape[1]]", "self.table[[1, 2, 3, 4, 5, 6, 0][: ids.shape[1]]]"),
        "bugs",
        "positions",
        "have the positions [1, 2, 3",
    ),
    "source not read": (
        ("x = layer(x, memory, past", "x = layer(x, memory * 0, past"),
        "bugs",
        "source",
        "not read",
    ),
    "the encoder given the target": (
        ("self.encode(source, mask)", "self.encode(target, mask[..., :1] | True)"),
        "bugs",
        "source",
        "not read",
    ),
    "history not read": (
        (
            CAUSAL,
            CAUSAL.replace("ones(length, length, dtype=torch.bool).tril()", "eye(length).bool()"),
        ),
        "bugs",
        "words",
        "already written is not read",
    ),
    "layer's result thrown away": (
        ("            x = layer(x, mask)", "            layer(x, mask)"),
        "bugs",
        "no gradient",
        "thrown away",
    ),
    "network thrown away": (
        ("        return y\n", "        return x\n"),
        "bugs",
        "no gradient",
        "thrown away",
    ),
    "each layer reads the embedding": (
        (
            "x = self.embed(target)\n        for layer in self.decoder:\n            x = layer(x,",
            "first = self.embed(target)\n        for layer in self.decoder:\n            x = layer(first,",
        ),
        "bugs",
        "no gradient",
        "thrown away",
    ),
    "detached memory": (
        ("memory = self.encode(source, mask)", "memory = self.encode(source, mask).detach()"),
        "bugs",
        "no gradient",
        "cut off",
    ),
    "layers in a plain list": (
        (
            "self.encoder = nn.ModuleList(\n            EncoderLayer(d_model, n_heads, d_ff, p) for _ in range(n_layers)\n        )",
            f"self.encoder = [{LAYERS}]",
        ),
        "bugs",
        "not registered",
        "plain list",
    ),
    "one layer N times": (
        (LAYERS, "[EncoderLayer(d_model, n_heads, d_ff, p)] * n_layers"),
        "bugs",
        "one layer",
        "one and the same module",
    ),
    "one projection for all heads": (
        (
            "return x.view(len(x), -1, self.n_heads, self.d_k).transpose(1, 2)",
            "x = x.view(len(x), -1, self.n_heads, self.d_k).transpose(1, 2)\n"
            "        return nn.functional.linear(x, self.q.weight[: self.d_k, : self.d_k])",
        ),
        "bugs",
        "heads",
        "queries of all heads",
    ),
    "softmax in the model": (
        ("return self.out(x)", "return self.out(x).softmax(-1)"),
        "departures",
        "output",
        "Returns probabilities",
    ),
    "softmax over positions": (
        ("return self.out(x)", "return self.out(x).softmax(1)"),
        "bugs",
        "output",
        "over the positions",
    ),
    "embedding of N(0, 1)": (
        ("        nn.init.normal_(self.words.weight, std=d_model**-0.5)\n", ""),
        "bugs",
        "first loss",
        "far too sure",
    ),
    "dropout in evaluation": (
        ("return self.drop(x)", "return nn.functional.dropout(x, 0.1)"),
        "bugs",
        "repeatable",
        "dropout stays on",
    ),
    "no dropout": (
        ("nn.Dropout(p)", "nn.Identity()"),
        "not_examined",
        "dropout",
        "nothing is dropped",
    ),
    "scores not scaled": ((" / math.sqrt(self.d_k)", ""), "departures", "scale", "not scaled"),
    "scores times √d_k": (
        ("/ math.sqrt(self.d_k)", "* math.sqrt(self.d_k)"),
        "departures",
        "scale",
        "multiplied by 2.828",
    ),
    "scaled by √d_model": (
        ("/ math.sqrt(self.d_k)", "/ math.sqrt(query.shape[-1])"),
        "departures",
        "scale",
        "√d_model",
    ),
    "no √d_model": (
        (" * math.sqrt(self.d_model)", ""),
        "departures",
        "√d_model",
        "multiplied by 1 ",
    ),
    "no bend": ((".relu())", ")"), "bugs", "feed-forward", "Nothing bends"),
    "bend in another place": (
        ("self.narrow(self.wide(x).relu())", "self.narrow(self.wide(x)).relu()"),
        "bugs",
        "feed-forward",
        "Nothing bends",
    ),
    "GELU": ((".relu())", ".exp().log1p())"), "departures", "feed-forward", "bends with"),
    "n − 1": (("correction=0", "correction=1"), "departures", "norm", "n − 1"),
    "pre-norm that adds to another": (
        (
            "z = self.norms[1](y + self.drop(self.across(y",
            "z = self.norms[1](x + self.drop(self.across(y",
        ),
        "departures",
        "residual",
        "another tensor",
    ),
    "causal encoder": (
        (
            MASK,
            f"length = source.shape[1]\n        mask = {CAUSAL} & (source != 0)[:, None, None, :]",
        ),
        "departures",
        "masks",
        "encoder's self-attention is closed",
    ),
    "tied by memory": (
        ("self.out.weight = self.words.weight", "self.out.weight.data = self.words.weight.data"),
        "departures",
        "ties",
        "by memory only",
    ),
    "untied": (
        ("        self.out.weight = self.words.weight\n", ""),
        "departures",
        "ties",
        "2 matrices",
    ),
    "NaN from padding": (
        (
            "scores.masked_fill(~mask, -1e9)",
            "scores.masked_fill(~(mask & mask.mT if mask.shape[-2] == 1 and len(scores[0, 0]) == len(scores[0, 0, 0]) else mask), -math.inf)",
        ),
        "bugs",
        "not a number",
        "not finite",
    ),
}
