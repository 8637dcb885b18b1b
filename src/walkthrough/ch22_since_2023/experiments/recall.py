"""Experiments 22-recall and 22-retold: facts that come back from numbers kept in different ways."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from walkthrough.ch22_since_2023.memory import N_FACTS, N_NAMES, Memory, Reader
from walkthrough.lab import Arm, Experiment, Job, Loaded, Outcome

PEAK = 0.01
COUNTS = (8, 16, 32, 48, 64)
"""Facts that a trained memory is tried with; it was trained with 32."""
N_RETOLD = 8
KINDS = {
    "all": {"window": N_FACTS},
    "window 2": {"window": 2},
    "window 4": {"window": 4},
    "window 8": {"window": 8},
    "sum 4": {"d_state": 4},
    "sum 8": {"d_state": 8},
    "sum 16": {"d_state": 16},
    "window 4 + sum 8": {"window": 4, "d_state": 8},
    **{f"picks {n}": {"window": N_FACTS, "picks": n, "d_index": 4} for n in (1, 2, 4)},
    **{f"chance {n}": {"window": N_FACTS, "picks": n} for n in (2, 4)},
}
DELTA = {"d_state": 16, "delta": True}


class Asked(NamedTuple):
    """Lists of facts, and what is asked of them: a name each, and the word that is right."""

    names: Tensor
    words: Tensor
    asked: Tensor
    right: Tensor


def facts(size: int, generator: Generator, n: int = N_FACTS) -> Asked:
    """Return `size` lists of n facts: n different names, and a random word for each."""
    order = torch.rand(size, N_NAMES, generator=generator).argsort(dim=1)
    names, words = order[:, :n], torch.randint(N_NAMES, (size, n), generator=generator)
    return Asked(names, words, names, words)


def retold(size: int, generator: Generator) -> Asked:
    """Return `size` lists of 32 facts, of which 8 are told anew: the word told last is right.

    There are 24 names in mixed order; the first 8 that are asked are those told twice.
    """
    names, words, *_ = facts(size, generator)
    names = torch.cat([names[:, :-N_RETOLD], names[:, :N_RETOLD]], dim=1)
    order = torch.rand(size, N_FACTS, generator=generator).argsort(dim=1)
    place = order.argsort(dim=1)
    later = place[:, -N_RETOLD:] > place[:, :N_RETOLD]
    right = words[:, :-N_RETOLD].clone()
    right[:, :N_RETOLD] = torch.where(later, words[:, -N_RETOLD:], words[:, :N_RETOLD])
    return Asked(names.gather(1, order), words.gather(1, order), names[:, :-N_RETOLD], right)


def learnt(job: Job, draw: Callable[[int, Generator], Asked]) -> Reader:
    """Train the memory of a run on lists that are drawn anew for each update.

    What picks its facts looks at all of them in the first half, as DeepSeek-V3.2 begins.
    """
    torch.manual_seed(job.seed)
    memory = Reader(job.arm.model.get("layers", [job.arm.model]))
    generator = Generator().manual_seed(job.seed)
    optimizer = torch.optim.Adam(memory.parameters(), fused=True)
    for update in range(job.length):
        for layer in cast(list[Memory], memory.layers):
            layer.sparse = update >= job.length // 2
        optimizer.param_groups[0]["lr"] = PEAK * job.key.rate * (1 - update / job.length)
        given, right = (one := draw(64, generator))[:3], one.right
        loss = F.cross_entropy(memory(*given).flatten(0, 1), right.flatten())
        loss = loss + memory.index_loss(*given)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return memory


@torch.no_grad()
def hits(memory: Reader, given: Asked) -> Tensor:
    """Return a 1 for each right answer, and a 0 for each other."""
    return (memory(*given[:3]).argmax(-1) == given.right).float()


def remembered(job: Job) -> Outcome:
    """Train one memory; return its accuracy on new lists, asked for every fact."""
    memory, new = learnt(job, facts), Generator().manual_seed(10_000 + job.seed)
    figures = {f"{n}/-/accuracy": hits(memory, facts(500, new, n)).mean().item() for n in COUNTS}
    return Outcome(figures=figures, parameters=n_weights(memory))


def told_anew(job: Job) -> Outcome:
    """Do the same where some facts are told twice; return it for these and for the others, too."""
    memory, new = learnt(job, retold), Generator().manual_seed(10_000 + job.seed)
    right = hits(memory, retold(500, new))
    parts = {"all": right, "retold": right[:, :N_RETOLD], "once": right[:, N_RETOLD:]}
    figures = {f"{name}/-/accuracy": part.mean().item() for name, part in parts.items()}
    return Outcome(figures=figures, parameters=n_weights(memory))


def n_weights(memory: Reader) -> int:
    """Return how many weights have a part in what the memory finds."""
    return sum(weights.numel() for weights in memory.parameters() if weights.grad is not None)


def _arm(name: str, *layers: Mapping[str, Any], rates: tuple[int | float, ...] = ()) -> Arm:
    return Arm(
        name,
        model={"layers": layers} if layers[1:] else layers[0],
        labels={"numbers": Reader(layers).n_kept, "read": Reader(layers).n_read},
        rates=rates,
    )


EXPERIMENTS = [
    Experiment(
        name="22-recall",
        question="How many of 32 facts come back, from as many numbers kept in different ways?",
        task=Loaded(),
        base="all",
        rival="window 8",  # as many numbers kept, and nothing learned of what to keep
        arms=[_arm(name, how) for name, how in KINDS.items()],
        rates=(0.5, 1, 2),
        rate_seeds=(1, 2, 3),
        lengths=(100, 300),
        run=remembered,
    ),
    Experiment(
        name="22-retold",
        question="Of 24 facts 8 are told anew: which memory says the new word, and the others?",
        task=Loaded(),
        base="sum 16",
        rival="all, later first",  # softmax attention, to which one number says what came later
        arms=[
            _arm("sum 16", KINDS["sum 16"], rates=(0.5, 1, 2, 4, 8, 16, 32)),
            _arm("gate 16", {"d_state": 16, "gate": True}, rates=(1, 2, 4, 8)),
            _arm("delta 16", DELTA, rates=(2, 4, 8)),
            _arm("all", KINDS["all"]),
            _arm("all, later first", {**KINDS["all"], "aged": True}),
            _arm("three to one", DELTA, DELTA, DELTA, KINDS["all"]),
        ],
        rates=(0.5, 1, 2),
        rate_seeds=(1, 2, 3),
        choose="all/-/accuracy",
        lengths=(300,),
        run=told_anew,
    ),
]
