"""Exact search: the hypothesis that no other beats, and the proof (§6.1; not in the paper).

Beam search forgets; this search does not. It always extends the prefixes with the highest bound,
which is the score that no continuation of a prefix can exceed, and stops when no bound is above the
best score found. For a model that is sure of its words this is quick. For one that is not, the
number of prefixes explodes, so there is a limit.
"""

import heapq
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from transformer.config import BOS_ID, EOS_ID, PAD_ID
from transformer.inference.beam import Hypothesis, beam_search, length_penalty
from transformer.inference.greedy import forbid_special, inference_encode, output_limits
from transformer.model import Transformer


@dataclass(frozen=True)
class ExactResult:
    """The best hypothesis, the number of prefixes the model read, and whether it is proved best."""

    best: Hypothesis
    n_prefixes: int
    is_proved: bool


@torch.no_grad()
def exact_search(
    model: Transformer,
    source: Int[Tensor, "batch source_len"],
    *,
    alpha: float = 0.0,
    max_len: int | None = None,
    max_prefixes: int = 20_000,
    at_once: int = 64,
) -> ExactResult:
    """Return the highest-scoring output of at most `max_len` tokens, the end token included.

    The search starts from the result of a beam of 4 and gives up after `max_prefixes` prefixes,
    of which `at_once` go through the model together. With α > 0 a long output pays less for each
    token, so bounds are looser the larger `max_len` is. By default it is as in `greedy_decode`.

    Raises:
        ValueError: more than one sentence, or a limit below 1.
    """
    if len(source) != 1:
        raise ValueError(f"exact search takes one sentence at a time, got {len(source)}")
    for name, value in (("max_prefixes", max_prefixes), ("at_once", at_once)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")
    limit = int(output_limits(source, max_len, config=model.config)[0])
    ((best,),) = beam_search(model, source, alpha=alpha, max_len=max_len)
    memory = inference_encode(model, source)
    loosest = length_penalty(limit, alpha)  # log probabilities only fall, the penalty only grows
    heap: list[tuple[float, list[int]]] = [(0.0, [])]  # (−log probability, prefix)
    n_prefixes = 0
    while heap and -heap[0][0] / loosest > best.score:
        if n_prefixes >= max_prefixes:
            return ExactResult(best, n_prefixes, is_proved=False)
        batch = [heapq.heappop(heap) for _ in range(min(at_once, len(heap)))]
        n_prefixes += len(batch)
        log_probs = _next_log_probs(model, source, memory, [prefix for _, prefix in batch])
        log_probs -= torch.tensor([cost for cost, _ in batch])[:, None]
        for (_, prefix), row in zip(batch, log_probs, strict=True):
            length = len(prefix) + 1
            ended = float(row[EOS_ID])
            score = ended / length_penalty(length, alpha)
            if score > best.score:
                best = Hypothesis(tokens=prefix, log_prob=ended, score=score)
            if length == limit:
                continue  # the token at the limit must be the end token
            row[EOS_ID] = float("-inf")
            for token in (row / loosest > best.score).nonzero().flatten().tolist():
                heapq.heappush(heap, (-float(row[token]), [*prefix, token]))
    return ExactResult(best, n_prefixes, is_proved=True)


def _next_log_probs(
    model: Transformer, source: Tensor, memory: Tensor, prefixes: list[list[int]]
) -> Tensor:
    width = max(map(len, prefixes)) + 1
    rows = [[BOS_ID, *prefix] + [PAD_ID] * (width - 1 - len(prefix)) for prefix in prefixes]
    n = len(rows)
    states = model.decode(
        torch.tensor(rows, device=source.device), memory.expand(n, -1, -1), source.expand(n, -1)
    )
    last = states[torch.arange(n), [len(prefix) for prefix in prefixes]]
    logits = model.project(last).float()
    return (forbid_special(logits.clone()) - logits.logsumexp(dim=-1, keepdim=True)).cpu()
