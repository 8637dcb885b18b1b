"""A task that needs a distant token, for chapter 01: which word came first? (§2).

Every word of a sentence is drawn at random. At the last word the model has to name the first.
"""

from typing import Literal, get_args

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer.attention import scaled_dot_product_attention
from transformer.positional import sinusoidal_encoding

Kind = Literal["RNN", "LSTM", "LSTM, gate open", "GRU", "attention"]
N_WORDS = 8
D_MODEL = 32
OPEN_GATE = 4.0
"""Start of the forget gate's bias: sigmoid(4) = 0.98 of the memory stays at each step."""
SOLVED = 0.02
"""Training ends early when the loss, a running mean, is below this: nothing is left to learn."""
GUESSING = 1 / N_WORDS
"""Share of right answers without looking: every word is as likely."""


class RecurrentReader(nn.Module):
    """Reads word by word, and answers from the last state alone."""

    def __init__(self, kind: Kind) -> None:
        super().__init__()
        self.words = nn.Embedding(N_WORDS, D_MODEL)
        layers = {"RNN": nn.RNN, "GRU": nn.GRU}
        self.layer = layers.get(kind, nn.LSTM)(D_MODEL, D_MODEL, batch_first=True)
        self.answer = nn.Linear(D_MODEL, N_WORDS)
        if kind == "LSTM, gate open":
            open_forget_gate(self.layer)

    def forward(self, tokens: Int[Tensor, "batch length"]) -> Float[Tensor, "batch n_words"]:
        """Return the logits of the first word."""
        states, _ = self.layer(self.words(tokens))
        return self.answer(states[:, -1])


class AttentionReader(nn.Module):
    """The last word asks, all words answer: one attention, no recursion.

    Attention does not see order by itself, so a code for its position is added to every word.
    """

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(N_WORDS, D_MODEL)
        self.query_proj = nn.Linear(D_MODEL, D_MODEL)
        self.key_proj = nn.Linear(D_MODEL, D_MODEL)
        self.value_proj = nn.Linear(D_MODEL, D_MODEL)
        self.answer = nn.Linear(D_MODEL, N_WORDS)

    def forward(self, tokens: Int[Tensor, "batch length"]) -> Float[Tensor, "batch n_words"]:
        """Return the logits of the first word."""
        found, _ = self._look(tokens, need_weights=False)
        return self.answer(found[:, 0])

    @torch.no_grad()
    def weights(self, tokens: Int[Tensor, "batch length"]) -> Float[Tensor, "batch length"]:
        """Return how the last word spreads its attention."""
        _, weights = self._look(tokens, need_weights=True)
        assert weights is not None
        return weights[:, 0]

    def _look(self, tokens: Tensor, *, need_weights: bool) -> tuple[Tensor, Tensor | None]:
        x = self.words(tokens) + sinusoidal_encoding(tokens.shape[1], D_MODEL)
        query = self.query_proj(x[:, -1:])
        key, value = self.key_proj(x), self.value_proj(x)
        return scaled_dot_product_attention(query, key, value, need_weights=need_weights)


def open_forget_gate(lstm: nn.LSTM, bias: float = OPEN_GATE) -> nn.LSTM:
    """Let an LSTM of one layer start with a forget gate that keeps its memory.

    PyTorch stores the gates in the order input, forget, cell, output, with two biases that add up.
    """
    d = lstm.hidden_size
    with torch.no_grad():
        lstm.get_parameter("bias_ih_l0")[d : 2 * d] = bias
        lstm.get_parameter("bias_hh_l0")[d : 2 * d] = 0.0
    return lstm


def sentences(
    length: int, size: int, generator: torch.Generator
) -> tuple[Int[Tensor, "size length"], Int[Tensor, "size"]]:
    """Return random sentences and, for each, its first word.

    Raises:
        ValueError: the length is below 2, so that nothing is distant.
    """
    if length < 2:
        raise ValueError(f"length must be at least 2, got {length}")
    tokens = torch.randint(N_WORDS, (size, length), generator=generator)
    return tokens, tokens[:, 0]


def make_model(kind: Kind, *, seed: int) -> nn.Module:
    """Return an untrained model.

    Raises:
        ValueError: an unknown kind.
    """
    if kind not in get_args(Kind):
        raise ValueError(f"kind must be one of {', '.join(get_args(Kind))}; got {kind!r}")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return AttentionReader() if kind == "attention" else RecurrentReader(kind)


def train(
    kind: Kind, *, length: int, seed: int, steps: int = 300, batch: int = 32, rate: float = 0.01
) -> nn.Module:
    """Train one model on sentences of one length; everything but the model is the same.

    `steps` is the most: who has solved the task ends early.

    Raises:
        ValueError: an unknown kind, a length below 2, or no steps to train for.
    """
    if steps < 1:
        raise ValueError(f"steps must be at least 1, got {steps}")
    generator = torch.Generator().manual_seed(seed)
    model = make_model(kind, seed=seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, fused=True)
    recent = 1.0
    for _ in range(steps):
        tokens, answers = sentences(length, batch, generator)
        loss = F.cross_entropy(model(tokens), answers)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # as recurrent networks need it
        optimizer.step()
        recent = 0.9 * recent + 0.1 * loss.item()
        if recent < SOLVED:
            break
    return model.eval()


@torch.no_grad()
def accuracy(model: nn.Module, length: int, *, size: int = 1000, seed: int = 10_000) -> float:
    """Return the share of right answers on new sentences."""
    tokens, answers = sentences(length, size, torch.Generator().manual_seed(seed))
    return float((model(tokens).argmax(dim=-1) == answers).double().mean())
