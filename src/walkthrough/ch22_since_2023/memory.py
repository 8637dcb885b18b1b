"""What a layer keeps of facts that it has read: all, the last ones, or a state of fixed size."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import kl_div, logsigmoid, normalize, pad, softplus

N_NAMES = 64
"""Names that a fact may be about, and as many words that it may say."""
N_FACTS = 32
D_VALUE = 32
D_KEY = 32
"""Of softmax attention: with its value a fact takes 64 numbers."""
D_NAME = 64
SLOW = 16
"""Root of the gate: an untrained one keeps 96 % of a row at each fact, where 50 % would be lost."""

Queries = Float[Tensor, "batch queries d_key"]
Keys = Float[Tensor, "batch facts d_key"]
Values = Float[Tensor, "batch facts d_value"]
Scores = Float[Tensor, "batch queries facts"]
Picked = Bool[Tensor, "batch queries facts"]
Found = Float[Tensor, "batch queries d_value"]
State = Float[Tensor, "batch d_key d_value"]


def look_up(
    query: Queries,
    key: Keys,
    value: Values,
    slope: Tensor | float = 0.0,
    among: Picked | None = None,
) -> Found:
    """Softmax attention over facts and one empty place, where to look if none of them fits.

    A fact's score falls by `slope` with each fact that comes after it (ALiBi). With `among`, each
    query looks at these facts alone.
    """
    age = torch.arange(key.shape[-2]).flip(0)
    scores = query @ key.mT / key.shape[-1] ** 0.5 - slope * age
    if among is not None:
        scores = scores.masked_fill(~among, -torch.inf)
    weights = pad(scores, (0, 1)).softmax(dim=-1)[..., :-1]
    return weights @ value


def best(scores: Scores, n: int) -> Picked:
    """Return which n facts each query scores highest; all of them where there are no more."""
    chosen = scores.topk(min(n, scores.shape[-1])).indices
    return torch.zeros_like(scores, dtype=torch.bool).scatter(-1, chosen, True)


def added_state(key: Keys, value: Values) -> State:
    """Linear attention: every fact adds key × value to one matrix, whatever is there already."""
    return key.mT @ value


def faded_state(key: Keys, value: Values, keep: Keys) -> State:
    """Gated linear attention: before a fact is added, each row of the matrix fades to a share.

    `keep` has these shares. What is left of a fact is the product of all that come after it.
    """
    of_later = keep.log().flip(1).cumsum(1).flip(1) - keep.log()
    return added_state(key * of_later.exp(), value)


def corrected_state(key: Keys, value: Values, write: Float[Tensor, "batch facts"]) -> State:
    """The delta rule: each fact adds key × (value − what the matrix answers to this key already).

    `write` is the share of the difference that is written; keys have length 1. All differences are
    the solution of one triangular system, since the answers come from earlier facts alone.
    """
    share = write[..., None]
    earlier = (share * key @ key.mT).tril(-1) + torch.eye(key.shape[1])
    return added_state(key, torch.linalg.solve_triangular(earlier, share * value, upper=False))


class Memory(nn.Module):
    """One layer that has read facts and is asked: what it finds for each query.

    It keeps the last `window` facts as they are, and what is older in a matrix of `d_state` rows:
    a sum, or one that a `gate` fades, or one that is written by the `delta` rule. With `aged`,
    attention prefers the later of two facts. Without window and state it has nothing.

    With `picks`, a query looks at so many facts of the window alone. An indexer finds them, one
    head of `d_index` numbers that learns which facts full attention would weigh; or chance does.
    While it is not yet `sparse`, it looks at all of them.
    """

    def __init__(
        self,
        *,
        window: int = 0,
        d_state: int = 0,
        gate: bool = False,
        delta: bool = False,
        aged: bool = False,
        picks: int = 0,
        d_index: int = 0,
    ) -> None:
        super().__init__()
        self.window, self.d_state, self.picks, self.d_index = window, d_state, picks, d_index
        self.sparse = True
        self.query = nn.Linear(D_NAME, D_KEY, bias=False)
        self.key = nn.Linear(D_NAME, D_KEY, bias=False)
        self.state_query = nn.Linear(D_NAME, max(d_state, 1), bias=False)
        self.state_key = nn.Linear(D_NAME, max(d_state, 1), bias=False)
        self.gate = nn.Linear(D_NAME, d_state) if gate else None
        self.delta = nn.Linear(D_NAME, 1) if delta else None
        self.slope = nn.Parameter(torch.zeros(())) if aged else None
        if d_index:
            self.index_query = nn.Linear(D_NAME, d_index, bias=False)
            self.index_key = nn.Linear(D_NAME, d_index, bias=False)

    @property
    def n_kept(self) -> int:
        """Numbers that it keeps when all facts are read."""
        return self.window * (D_KEY + D_VALUE + self.d_index) + self.d_state * D_VALUE

    @property
    def n_read(self) -> int:
        """Numbers of these that one query reads."""
        unread = self.window - self.picks if self.picks else 0
        return self.n_kept - unread * (D_KEY + D_VALUE)

    def forward(
        self,
        about: Float[Tensor, "batch facts d_name"],
        value: Values,
        ask: Float[Tensor, "batch queries d_name"],
    ) -> Found:
        """Return what is found in the window and in the state, added up."""
        n_old = about.shape[1] - self.window if self.window else about.shape[1]
        found = value.new_zeros(*ask.shape[:2], D_VALUE)
        if self.window:
            last = slice(max(n_old, 0), None)
            slope = 0.0 if self.slope is None else softplus(self.slope)
            near = about[:, last]
            sparse = self.picks and self.sparse
            among = best(self.index(near, ask), self.picks) if sparse else None
            found = look_up(self.query(ask), self.key(near), value[:, last], slope, among)
        if self.d_state and n_old > 0:
            query = normalize(self.state_query(ask), dim=-1)
            found = found + query @ self.state(about[:, :n_old], value[:, :n_old])
        return found

    def index(self, about: Tensor, ask: Tensor) -> Scores:
        """Return by what facts are picked for each query: the indexer's scores, or chance."""
        if not self.d_index:
            return torch.rand(*ask.shape[:2], about.shape[1])
        return self.index_query(ask) @ self.index_key(about).mT / self.d_index**0.5

    def index_loss(self, about: Tensor, ask: Tensor) -> Float[Tensor, ""]:
        """Return how far the indexer is from what attention to all facts would weigh (KL).

        It moves the indexer and nothing else.
        """
        about, ask = about.detach(), ask.detach()
        with torch.no_grad():
            full = (self.query(ask) @ self.key(about).mT / D_KEY**0.5).softmax(-1)
        guess = self.index(about, ask).log_softmax(-1)
        return kl_div(guess, full, reduction="none").sum(-1).mean()

    def state(self, about: Float[Tensor, "batch facts d_name"], value: Values) -> State:
        """Return the matrix after these facts."""
        key = normalize(self.state_key(about), dim=-1)
        if self.gate is not None:
            return faded_state(key, value, (logsigmoid(self.gate(about)) / SLOW).exp())
        if self.delta is not None:
            return corrected_state(key, value, self.delta(about).sigmoid().squeeze(-1))
        return added_state(key, value)


class Reader(nn.Module):
    """Names and words in, words out: what is asked passes through the memories, one a layer.

    The facts themselves pass through none: each layer reads them as they are. `n_kept` numbers are
    kept in all layers when all facts are read, and a query reads `n_read` of them.
    """

    def __init__(self, layers: Sequence[Mapping[str, Any]]) -> None:
        super().__init__()
        self.names, self.words = nn.Embedding(N_NAMES, D_NAME), nn.Embedding(N_NAMES, D_VALUE)
        memories = [Memory(**settings) for settings in layers]
        self.n_kept = sum(memory.n_kept for memory in memories)
        self.n_read = sum(memory.n_read for memory in memories)
        self.layers = nn.ModuleList(memories)
        self.read = nn.Linear(D_VALUE, N_NAMES)
        self.onward = nn.ModuleList(nn.Linear(D_VALUE, D_NAME, bias=False) for _ in layers[1:])

    def forward(
        self, names: Tensor, words: Tensor, asked: Tensor
    ) -> Float[Tensor, "batch queries words"]:
        """Return the logits of the word that each asked name goes with."""
        about, value, ask = self.names(names), self.words(words), self.names(asked)
        found = self.layers[0](about, value, ask)
        for layer, onward in zip(self.layers[1:], self.onward, strict=True):
            ask = ask + onward(found)
            found = found + layer(about, value, ask)
        return self.read(found)

    def index_loss(self, names: Tensor, words: Tensor, asked: Tensor) -> Float[Tensor, ""]:
        """Return what the first layer's indexer has to learn; 0 where there is none."""
        first = cast(Memory, self.layers[0])
        if not first.d_index:
            return torch.zeros(())
        return first.index_loss(self.names(names), self.names(asked))
