"""The check of chapter 04 on finding planted bugs: the reader's function names the fault (§3.2.2).

Each case is an attention that runs, gives the right shapes, and is broken in one place at most.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from transformer.masks import causal_mask
from walkthrough.checking import Arguments, Case, Check, Mistake, arguments

D_MODEL = 12
FAULTS = ("fine", "merge", "heads", "batch", "softmax", "mask")


@dataclass(frozen=True)
class Suspect:
    """Multi-head self-attention with at most one fault; `fault` is for the check, not for you."""

    n_heads: int
    w_q: Tensor
    w_k: Tensor
    w_v: Tensor
    w_o: Tensor
    fault: str

    def __call__(self, x: Tensor, attend_mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return (batch, length, d_model) outputs, and the attention weights."""
        if self.fault == "batch":
            x = x.transpose(0, 1)
        q, k, v = (self._split(x @ matrix) for matrix in (self.w_q, self.w_k, self.w_v))
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if attend_mask is not None and self.fault not in ("mask", "heads", "batch"):
            scores = scores.masked_fill(~attend_mask, float("-inf"))
        weights = scores.softmax(dim=-2 if self.fault == "softmax" else -1)
        output = self._merge(weights @ v) @ self.w_o
        return (output.transpose(0, 1) if self.fault == "batch" else output), weights

    def _split(self, x: Tensor) -> Tensor:
        cut = x.unflatten(-1, (self.n_heads, -1))
        return cut if self.fault == "heads" else cut.transpose(1, 2)

    def _merge(self, heads: Tensor) -> Tensor:
        if self.fault == "heads":
            return heads.flatten(-2)
        if self.fault == "merge":
            return heads.reshape(heads.shape[0], heads.shape[2], -1)
        return heads.transpose(1, 2).flatten(-2)


MISSED = {
    "fine": 'A sound module is said to be broken; the answer for it is "fine". Which of your '
    "experiments does it fail, and should it? Rounding moves outputs by 1e-6, small weights move "
    "them by 1e-3: compare up to 1e-4.",
    "merge": "Flattening without the exchange is not found. The weights are right, so only the "
    "output can tell: bring the words into another order, and the rows of the output must come "
    "in that order too. (Here the outputs look as if the mask were ignored; the weights do not.)",
    "heads": "Heads that look at heads are not found. Change one word: no *other* word notices.",
    "batch": "Sentences that look at sentences are not found. Give two sentences and change one: "
    "the other must not move. Ask this first: here no word notices another of its sentence.",
    "softmax": "A softmax over the queries is not found. The weights of each *query* must sum to "
    "1: `weights.sum(-1)`.",
    "mask": "A mask that is ignored is not found. Hand over a causal mask: no weight above the "
    "diagonal, and a change of the last word must not move the words before it.",
}


def _suspect(fault: str, n_heads: int) -> Case:
    def make(generator: torch.Generator) -> Arguments:
        size = 0.5 if n_heads == 3 else 0.05  # small weights move outputs little
        w_q, w_k, w_v, w_o = size * torch.randn(4, D_MODEL, D_MODEL, generator=generator)
        return arguments(Suspect(n_heads, w_q, w_k, w_v, w_o, fault))

    return Case(f"a module of {n_heads} heads whose fault is “{fault}”", make, MISSED[fault])


Look = Callable[[Suspect, Tensor], bool]


def _differ(one: Tensor, other: Tensor) -> bool:
    return bool((one - other).abs().max() > 1e-4)


def _looks_at_sentences(module: Suspect, x: Tensor) -> bool:
    other = x.clone()
    other[1] += 1
    return _differ(module(other)[0][0], module(x)[0][0])


def _looks_at_heads(module: Suspect, x: Tensor) -> bool:
    other = x.clone()
    other[:, -1] += 1
    return not _differ(module(other)[0][:, :-1], module(x)[0][:, :-1])


def _sums_over_queries(module: Suspect, x: Tensor) -> bool:
    sums = module(x)[1].sum(dim=-1)
    return _differ(sums, torch.ones_like(sums))


def _ignores_the_mask(module: Suspect, x: Tensor) -> bool:
    mask = causal_mask(x.shape[1])
    other = x.clone()
    other[:, -1] += 1
    weights = module(x, mask)[1]
    return _differ(weights, module(x)[1]) is False and _differ(
        module(other, mask)[0][:, :-1], module(x, mask)[0][:, :-1]
    )


def _mixes_words(module: Suspect, x: Tensor) -> bool:
    return _differ(module(x.flip(1))[0], module(x)[0].flip(1))


LOOKS: dict[str, Look] = {
    "batch": _looks_at_sentences,
    "heads": _looks_at_heads,
    "softmax": _sums_over_queries,
    "mask": _ignores_the_mask,
    "merge": _mixes_words,
}


def _find_bug(module: Suspect) -> str:
    x = torch.randn(2, 5, D_MODEL, generator=torch.Generator().manual_seed(0))
    return next((fault for fault, look in LOOKS.items() if look(module, x)), "fine")


def _confused(one: str, other: str) -> Callable[[Suspect], str]:
    swap = {one: other, other: one}
    return lambda module: swap.get(module.fault, module.fault)


find_bug = Check(
    name="find_bug",
    reference=_find_bug,
    cases=[_suspect(fault, n_heads) for fault in FAULTS for n_heads in (3, 2)],
    mistakes=[
        Mistake(
            "always fine",
            lambda module: "fine",
            "every module is called fine. Ten of the twelve are broken.",
        ),
        *(
            Mistake(
                f"“{one}” and “{other}” exchanged",
                _confused(one, other),
                f'"{one}" and "{other}" are exchanged, and all else is right. Ask of each of your '
                "experiments which other fault would show there too.",
            )
            for one, other in (("merge", "heads"), ("heads", "batch"), ("softmax", "mask"))
        ),
    ],
    right="`find_bug` is right for twelve modules, sound and broken",
)
