"""A task with two answers a query, for chapter 04: the word before and the word after (§3.2.2).

One attention layer looks, a linear reader answers from what it found. One head has one set of
weights for both words; two heads of the same total width have one each.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer.attention import MultiHeadAttention
from walkthrough.lab import Arm, Experiment, Job, Loaded, Outcome

N_WORDS = 16
LENGTH = 8
D_MODEL = 16
RELATIONS = ("word before", "word after")
GUESSING = 1 / N_WORDS
"""Share of right answers without looking: every word is as likely."""


class TwoRelations(nn.Module):
    """One multi-head attention, and a linear reader that names two words from its output.

    No residual connection and no layer norm: the reader sees the attention's output alone.
    """

    def __init__(self, n_heads: int, *, d_model: int = D_MODEL) -> None:
        super().__init__()
        self.words = nn.Embedding(N_WORDS, d_model)
        self.positions = nn.Embedding(LENGTH, d_model)
        self.attention = MultiHeadAttention(d_model=d_model, n_heads=n_heads)
        self.read = nn.Linear(d_model, len(RELATIONS) * N_WORDS)

    def forward(
        self, tokens: Int[Tensor, "batch length"]
    ) -> Float[Tensor, "batch inner relations n_words"]:
        """Return the logits of both answers for every word that has two neighbours."""
        found, _ = self._look(tokens, need_weights=False)
        logits = self.read(found)[:, 1:-1]
        return logits.unflatten(-1, (len(RELATIONS), N_WORDS))

    @torch.no_grad()
    def weights(self, tokens: Int[Tensor, "batch length"]) -> Float[Tensor, "heads length length"]:
        """Return the attention weights of each head, averaged over the sentences."""
        _, weights = self._look(tokens, need_weights=True)
        assert weights is not None
        return weights.mean(dim=0)

    def _look(self, tokens: Tensor, *, need_weights: bool) -> tuple[Tensor, Tensor | None]:
        x = self.words(tokens) + self.positions.weight
        output: tuple[Tensor, Tensor | None] = self.attention(x, x, x, need_weights=need_weights)
        return output


def sentences(
    size: int, generator: torch.Generator
) -> tuple[Int[Tensor, "size length"], Int[Tensor, "size inner relations"]]:
    """Return random sentences and, for each inner word, the word before it and the word after.

    Words are independent, so the two answers can be the same word.
    """
    tokens = torch.randint(N_WORDS, (size, LENGTH), generator=generator)
    return tokens, torch.stack([tokens[:, :-2], tokens[:, 2:]], dim=-1)


def train(n_heads: int, *, seed: int, steps: int = 400, peak: float = 1e-2) -> TwoRelations:
    """Train one model, with everything but the heads the same; about a second.

    Raises:
        ValueError: there are no steps to train for, or n_heads does not divide d_model.
    """
    if steps < 1:
        raise ValueError(f"steps must be at least 1, got {steps}")
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = TwoRelations(n_heads)
    optimizer = torch.optim.Adam(model.parameters(), lr=peak, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / 50, 1 - step / steps)
    )
    for _ in range(steps):
        tokens, answers = sentences(64, generator)
        loss = F.cross_entropy(model(tokens).flatten(0, 2), answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.eval()


@torch.no_grad()
def right_answers(
    model: nn.Module, *, size: int = 500, seed: int = 10_000
) -> Float[Tensor, "relations"]:
    """Return the share of right answers on new sentences, one number a relation."""
    tokens, answers = sentences(size, torch.Generator().manual_seed(seed))
    return (model(tokens).argmax(dim=-1) == answers).double().mean(dim=(0, 1)).float()


def neighbour_weights(
    model: TwoRelations, *, size: int = 100, seed: int = 10_000
) -> Float[Tensor, "heads relations"]:
    """Return the mean weight that each head gives to the word before and to the word after."""
    tokens, _ = sentences(size, torch.Generator().manual_seed(seed))
    weights = model.weights(tokens)
    before = weights.diagonal(-1, -2, -1)[:, :-1]  # weights[:, i, i − 1] for i = 1 … length − 2
    after = weights.diagonal(1, -2, -1)[:, 1:]  # weights[:, i, i + 1]
    return torch.stack([before.mean(-1), after.mean(-1)], dim=-1)


@torch.no_grad()
def other_neighbour(model: nn.Module, *, size: int = 2_000, seed: int = 10_000) -> float:
    """Return how often a model, in the relation it knows less well, names the other neighbour.

    Only words whose two neighbours differ count: a mistake is then one word or another.
    """
    tokens, answers = sentences(size, torch.Generator().manual_seed(seed))
    differ = answers[..., 0] != answers[..., 1]
    said, answers = model(tokens)[differ].argmax(dim=-1), answers[differ]  # words, relations
    worse = int((said == answers).double().mean(dim=0).argmin())
    return (said[:, worse] == answers[:, 1 - worse]).double().mean().item()


def answer_both(job: Job) -> Outcome:
    """Train one model; its figure is the share of right answers in the relation it knows less."""
    model = train(
        int(job.arm.labels["heads"]),
        seed=job.seed,
        steps=job.length,
        peak=1e-2 * job.key.rate,
    )
    return Outcome(
        figures={"new/-/worse_accuracy": float(right_answers(model).min())},
        extra={
            "weights": neighbour_weights(model).tolist(),
            "other_neighbour": other_neighbour(model),
        },
    )


EXPERIMENT = Experiment(
    name="04-two-words",
    question="Can a linear reader name both neighbours of a word, from one head or from two?",
    task=Loaded(),
    base="one head",
    rival="one head",  # of as many weights
    arms=[Arm("one head", labels={"heads": 1}), Arm("two heads", labels={"heads": 2})],
    rates=(0.5, 1, 2),
    rate_seeds=(1, 2, 3),
    lengths=(400, 2000),
    run=answer_both,
)
