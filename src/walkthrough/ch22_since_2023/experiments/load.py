"""Experiment 22-load: a network in eight parts against a whole one, with the load kept even or not.

All learn what the last encoder layer's feed-forward network of a small translator does to words.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer.config import PAD_ID
from transformer.feed_forward import PositionwiseFeedForward
from walkthrough.ch22_since_2023.experts import Experts
from walkthrough.lab import Arm, Experiment, Job, Loaded, Outcome, translator
from walkthrough.lab.half_trained import load_translator

PEAK = 0.02
N_EXPERTS, N_USED, EXPERT_WIDTH = 8, 2, 8
BALANCE_STEP = 0.02
Words = tuple[Tensor, Tensor]


def words(n_train: int = 1000, n_valid: int = 300) -> tuple[Words, Words]:
    """Return what goes into that network and what comes out: of sentences to learn, and of new."""
    task = translator.load_task()
    learn, new = (
        through([source for source, _ in task.pairs(split)[:n]])
        for split, n in (("train", n_train), ("valid", n_valid))
    )
    return learn, new


def through(sources: Sequence[Sequence[int]]) -> Words:
    """Return what goes into that network and what comes out, for the words of some sentences."""
    model, _ = load_translator()
    seen: list[Words] = []
    network = model.encoder.layers[-1].get_submodule("feed_forward")
    handle = network.register_forward_hook(lambda _, given, output: seen.append((*given, output)))
    rows = [torch.tensor(source) for source in sources]
    batch = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD_ID)
    with torch.no_grad():
        model.eval().encode(batch)
    handle.remove()
    real = batch != PAD_ID
    return seen[0][0][real], seen[0][1][real]


def few_words() -> tuple[Words, Words]:
    """Return a few of them, to see that it runs."""
    return words(20, 10)


def new_network(kind: str, *, seed: int, d_model: int = 64) -> nn.Module:
    """Return eight experts, with a router that learns or a frozen one, or a whole network.

    A whole one is as wide as two experts, as all eight, or has the operations of two and a router.
    """
    torch.manual_seed(seed)
    if kind.startswith("experts"):
        experts = Experts(d_model=d_model, d_ff=EXPERT_WIDTH, n_experts=N_EXPERTS, n_used=N_USED)
        experts.router.requires_grad_(kind == "experts")
        return experts
    widths = {"as two": N_USED * EXPERT_WIDTH, "as all": N_EXPERTS * EXPERT_WIDTH}
    widths["of equal cost"] = widths["as two"] + N_EXPERTS // 2  # a unit takes two rows of weights
    return PositionwiseFeedForward(d_model=d_model, d_ff=widths[kind])


def trained(
    kind: str, data: Words, *, seed: int, updates: int, balanced: bool, peak: float = PEAK
) -> nn.Module:
    """Return a network that has learnt to imitate."""
    x, y = data
    network = new_network(kind, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(network.parameters(), fused=True)
    for update in range(updates):
        optimizer.param_groups[0]["lr"] = peak * (1 - update / updates)
        rows = torch.randint(len(x), (256,), generator=generator)
        loss = F.mse_loss(network(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if balanced and isinstance(network, Experts):
            network.balance(x[rows], BALANCE_STEP)
    return network


def imitated(job: Job) -> Outcome:
    """Train one network; return the share of the variance that it misses on new sentences.

    Of experts, also the share of the work that would have to move for all to have as much.
    """
    learn, (x, y) = job.data
    peak = PEAK * job.key.rate
    network = trained(**job.arm.model, data=learn, seed=job.seed, updates=job.length, peak=peak)
    with torch.no_grad():
        missed = (network(x) - y).square().sum() / (y - y.mean(0)).square().sum()
    figures, extra = {"words/-/error": float(missed)}, {}
    if isinstance(network, Experts):
        load = network.load(x)
        figures["load/-/error"] = float((load - 1 / len(load)).clamp(min=0).sum())
        extra["load"] = [round(share, 4) for share in load.tolist()]
    parameters = sum(weights.numel() for weights in network.parameters())
    return Outcome(figures=figures, extra=extra, parameters=parameters)


EXPERIMENT = Experiment(
    name="22-load",
    question="What are eight experts worth, of which a word uses two, and how even is their load?",
    task=Loaded(words, few_words),
    base="experts",
    rival="whole, of equal cost",
    arms=[
        Arm("experts", model={"kind": "experts", "balanced": False}),
        Arm("experts, balanced", model={"kind": "experts", "balanced": True}),
        Arm("whole, as wide as two", model={"kind": "as two", "balanced": False}),
        Arm("whole, as wide as all", model={"kind": "as all", "balanced": False}),
        Arm("whole, of equal cost", model={"kind": "of equal cost", "balanced": False}),
        Arm("experts, frozen router", model={"kind": "experts, frozen", "balanced": True}),
    ],
    rates=(0.5, 1, 2),
    rate_seeds=(1, 2, 3),
    lengths=(200, 600),
    run=imitated,
)
