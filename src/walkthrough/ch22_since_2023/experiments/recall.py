"""Experiment 22-recall: how many facts come back from as many numbers, kept in different ways."""

import torch
import torch.nn.functional as F
from torch import Tensor

from walkthrough.ch22_since_2023.memory import N_FACTS, N_NAMES, Memory
from walkthrough.lab import Arm, Experiment, Job, Loaded, Outcome

PEAK = 0.01
COUNTS = (8, 16, 32, 48, 64)
"""Facts that a trained memory is tried with; it was trained with 32."""
KINDS = {
    "all": {"window": N_FACTS},
    "window 2": {"window": 2},
    "window 4": {"window": 4},
    "window 8": {"window": 8},
    "sum 4": {"d_state": 4},
    "sum 8": {"d_state": 8},
    "sum 16": {"d_state": 16},
    "window 4 + sum 8": {"window": 4, "d_state": 8},
}


def facts(size: int, generator: torch.Generator, n: int = N_FACTS) -> tuple[Tensor, Tensor]:
    """Return `size` lists of n facts: n different names, and a random word for each."""
    order = torch.rand(size, N_NAMES, generator=generator).argsort(dim=1)
    return order[:, :n], torch.randint(N_NAMES, (size, n), generator=generator)


def remembered(job: Job) -> Outcome:
    """Train one memory; return its accuracy on new lists, asked for every fact."""
    torch.manual_seed(job.seed)
    memory = Memory(**job.arm.model)
    generator = torch.Generator().manual_seed(job.seed)
    optimizer = torch.optim.Adam(memory.parameters(), fused=True)
    for update in range(job.length):
        optimizer.param_groups[0]["lr"] = PEAK * job.key.rate * (1 - update / job.length)
        names, words = facts(64, generator)
        loss = F.cross_entropy(memory(names, words, names).flatten(0, 1), words.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    new = torch.Generator().manual_seed(10_000 + job.seed)
    figures = {}
    for n in COUNTS:
        names, words = facts(500, new, n)
        with torch.no_grad():
            right = (memory(names, words, names).argmax(-1) == words).float()
        figures[f"{n}/-/accuracy"] = right.mean().item()
    return Outcome(figures=figures)


EXPERIMENT = Experiment(
    name="22-recall",
    question="How many of 32 facts come back, from as many numbers kept in different ways?",
    task=Loaded(),
    base="all",
    rival="window 8",  # as many numbers kept, and nothing learned of what to keep
    arms=[
        Arm(name, model=how, labels={"numbers": Memory(**how).n_kept})
        for name, how in KINDS.items()
    ],
    rates=(0.5, 1, 2),
    rate_seeds=(1, 2, 3),
    lengths=(100, 300),
    run=remembered,
)
