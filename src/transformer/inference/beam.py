"""Beam search with the paper's length penalty (§6.1; Wu et al. 2016, Eq. 14)."""

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from transformer.cache import DecoderCache
from transformer.config import BOS_ID, EOS_ID
from transformer.inference.constraint import Constraint, advance, allow
from transformer.inference.greedy import (
    EXTRA_TOKENS,
    forbid_special,
    inference_encode,
    output_limits,
)
from transformer.inference.step import Step, step_decoder
from transformer.model import Transformer

BLOCK = 64
"""Values of a long row whose maximum is looked at first, by `largest`."""


@dataclass(frozen=True)
class Hypothesis:
    """One finished translation: ids without start and end token.

    `log_prob` is log P(tokens, end token | source). `score`, which ranks hypotheses, is `log_prob`
    over the length penalty.
    """

    tokens: list[int]
    log_prob: float
    score: float


def length_penalty(length: int, alpha: float | None) -> float:
    """((5 + |Y|) / 6)^α, with |Y| the number of tokens, the end token included (§6.1).

    Without α it is |Y|: the score is then the mean per token, as fairseq has it.
    """
    return float(length) if alpha is None else ((5 + length) / 6) ** alpha


@torch.inference_mode()
def beam_search(
    model: Transformer,
    source: Int[Tensor, "batch source_len"],
    *,
    beam: int = 4,
    alpha: float | None = 0.6,
    n_best: int = 1,
    max_len: int | None = None,
    early_stopping: bool = False,
    extra_tokens: int = EXTRA_TOKENS,
    constraint: Constraint | None = None,
    step: Step | None = None,
) -> list[list[Hypothesis]]:
    """Return the `n_best` best hypotheses found for each row of `source`, best first (§6.1).

    A step keeps the `beam` most probable unfinished hypotheses. One that ends among the `beam` most
    probable continuations is finished and keeps its score. A sentence is done when nothing that is
    still open could enter the n best ("early when possible"). With `early_stopping` also when
    `beam` hypotheses are finished, of whatever score: an open one may then be better, and now and
    then greedy's output is. `max_len` and `extra_tokens` are as in `greedy_decode`; the token at
    the limit must be the end token. What `constraint` closes is never chosen; the probabilities of
    the rest stay the model's, so scores with and without compare.
    `step` is as in `greedy_decode`.

    Raises:
        ValueError: beam below 1, α negative, n_best not in 1 … beam, max_len or extra_tokens
            below 1, or a constraint that leaves nothing to choose.
    """
    _check(beam, alpha, n_best)
    limits = output_limits(source, max_len, extra_tokens, model.config).tolist()
    step = step or step_decoder(model)
    search = _Search(model, source, beam, alpha, n_best, limits, early_stopping, constraint, step)
    while search.open_sentences:
        search.step()
    return [sorted(hypotheses, key=lambda h: -h.score)[:n_best] for hypotheses in search.finished]


class _Search:
    """State of one batch: row r of sentence s sits at s · width + r; dead rows have −∞.

    The width is 1 before the first step, when there is one hypothesis, and the beam's after it.
    """

    def __init__(
        self,
        model: Transformer,
        source: Tensor,
        beam: int,
        alpha: float | None,
        n_best: int,
        limits: list[int],
        early_stopping: bool,
        constraint: Constraint | None,
        step: Step,
    ) -> None:
        self.decode, self.project, self.shares_sources = step
        self.beam, self.alpha, self.n_best = beam, alpha, n_best
        self.early_stopping = early_stopping
        self.limits, self.constraint = limits, constraint
        self.finished: list[list[Hypothesis]] = [[] for _ in range(len(source))]
        self.open_sentences = list(range(len(source)))
        self.source, self.memory = source, inference_encode(model, source)
        self.cache = DecoderCache(model.config.n_layers)
        self.tokens = torch.full((len(source), 1), BOS_ID, device=source.device)
        self.log_probs = torch.zeros(len(source), 1, device=source.device)
        self.states: list[Any] = []  # of the constraint, one a row
        if constraint is not None:
            self.states = [constraint.start(s) for s in range(len(source))]

    @property
    def width(self) -> int:
        """Rows of a sentence."""
        return self.log_probs.shape[1]

    def step(self) -> None:
        """Extend every unfinished hypothesis by a token."""
        length = self.tokens.shape[1]  # of the hypotheses after this step, without the start token
        log_probs, parents, tokens = self._best_continuations(length)
        self._finish(log_probs, parents, tokens, length)
        # the `beam` best continuations that do not end
        ranked = log_probs.masked_fill(tokens == EOS_ID, float("-inf"))
        ranked, order = ranked.topk(min(self.beam, ranked.shape[-1]), dim=-1)
        parents, tokens = parents.gather(-1, order), tokens.gather(-1, order)
        best_open = ranked[:, 0].tolist()
        stays = [
            place
            for place, sentence in enumerate(self.open_sentences)
            if not self._is_done(sentence, best_open[place], length)
        ]
        self._keep(stays, ranked, parents, tokens)

    def _best_continuations(
        self, length: int
    ) -> tuple[
        Float[Tensor, "sentences candidates"],
        Int[Tensor, "sentences candidates"],
        Int[Tensor, "sentences candidates"],
    ]:
        states = self.decode(self.tokens[:, -1:], self.memory, self.source, cache=self.cache)
        following = forbid_special(self.project(states[:, -1]).float().log_softmax(dim=-1))
        if self.constraint is not None:
            following = allow(following, self.constraint, self.states)
        at_limit = [self.limits[sentence] == length for sentence in self.open_sentences]
        if any(at_limit):
            must_end = torch.tensor(at_limit, device=following.device)
            only_end = torch.full_like(following[0], float("-inf"))
            only_end[EOS_ID] = 0.0
            following[must_end.repeat_interleave(self.width)] += only_end
        # At most one continuation of a row ends it: beam + 1 of each row hold `beam` that go on.
        best, tokens = largest(following, min(self.beam + 1, following.shape[-1]))
        best = best + self.log_probs.view(-1, 1)
        n_sentences, per_row = len(self.open_sentences), best.shape[-1]
        log_probs, order = best.view(n_sentences, -1).sort(dim=-1, descending=True, stable=True)
        return log_probs, order // per_row, tokens.view(n_sentences, -1).gather(-1, order)

    def _finish(self, log_probs: Tensor, parents: Tensor, tokens: Tensor, length: int) -> None:
        ends = (tokens[:, : self.beam] == EOS_ID) & log_probs[:, : self.beam].isfinite()
        for place, rank in ends.nonzero().tolist():
            log_prob = float(log_probs[place, rank])
            row = place * self.width + int(parents[place, rank])
            hypothesis = Hypothesis(
                tokens=self.tokens[row, 1:].tolist(),
                log_prob=log_prob,
                score=log_prob / length_penalty(length, self.alpha),
            )
            self.finished[self.open_sentences[place]].append(hypothesis)

    def _is_done(self, sentence: int, best_open: float, length: int) -> bool:
        finished = self.finished[sentence]
        if length >= self.limits[sentence] or best_open == float("-inf"):
            return True
        if len(finished) < self.n_best:
            return False
        if self.early_stopping and len(finished) >= self.beam:
            return True
        # Log P only falls, and is below 0, so it weighs least where the penalty is largest: at the
        # limit, whatever α. No continuation scores higher than the best open one would there.
        reachable = best_open / length_penalty(self.limits[sentence], self.alpha)
        return sorted(h.score for h in finished)[-self.n_best] >= reachable

    def _keep(self, stays: list[int], ranked: Tensor, parents: Tensor, tokens: Tensor) -> None:
        places = torch.tensor(stays, dtype=torch.long, device=tokens.device)
        rows = (places[:, None] * self.width + parents[places]).flatten()
        sources = places if self.shares_sources else rows
        if len(stays) < len(self.open_sentences) or len(sources) > len(self.source):
            self.cache.select(rows, sources=sources)
            self.memory, self.source = self.memory[sources], self.source[sources]
        else:  # what changed places has the same source
            self.cache.select(rows, sources=None)
        self.tokens = torch.cat([self.tokens[rows], tokens[places].view(-1, 1)], dim=1)
        self.log_probs = ranked[places]
        if self.constraint is not None:
            states = [self.states[row] for row in rows.tolist()]
            is_alive = self.log_probs.flatten().isfinite()
            self.states = advance(self.constraint, states, self.tokens[:, -1], is_alive)
        self.open_sentences = [self.open_sentences[place] for place in stays]


def largest(
    values: Float[Tensor, "rows n"], k: int
) -> tuple[Float[Tensor, "rows k"], Int[Tensor, "rows k"]]:
    """Return what `values.topk(k)` does, of long rows in half its time.

    The k blocks with the largest maxima hold the k largest values.
    """
    whole = values.shape[-1] // BLOCK
    if whole < 10 * k or values.device.type != "cpu":
        best, places = values.topk(k, dim=-1)
        return best, places
    blocks = values[:, : whole * BLOCK].unflatten(-1, (whole, BLOCK))
    chosen = blocks.amax(dim=-1).topk(k, dim=-1).indices
    held = blocks.gather(1, chosen[..., None].expand(-1, -1, BLOCK)).flatten(1)
    held = torch.cat([held, values[:, whole * BLOCK :]], dim=-1)  # and what is behind the last one
    starts = F.pad(chosen * BLOCK, (0, 1), value=whole * BLOCK)
    best, order = held.topk(k, dim=-1)
    return best, starts.gather(-1, order // BLOCK) + order % BLOCK


def _check(beam: int, alpha: float | None, n_best: int) -> None:
    if beam < 1:
        raise ValueError(f"beam must be at least 1, got {beam}")
    if alpha is not None and alpha < 0:
        raise ValueError(f"alpha must not be negative, got {alpha}")
    if not 1 <= n_best <= beam:
        raise ValueError(f"n_best must lie between 1 and beam = {beam}, got {n_best}")
