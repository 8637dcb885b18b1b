"""What a layer keeps of facts that it has read: all, the last ones, or a state of fixed size."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

N_NAMES = 64
"""Names that a fact may be about, and as many words that it may say."""
N_FACTS = 32
D_VALUE = 32
D_KEY = 32
"""Of softmax attention: with its value a fact takes 64 numbers."""

Queries = Float[Tensor, "batch queries d_key"]
Keys = Float[Tensor, "batch facts d_key"]
Values = Float[Tensor, "batch facts d_value"]
Found = Float[Tensor, "batch queries d_value"]


def look_up(query: Queries, key: Keys, value: Values) -> Found:
    """Softmax attention over facts and one empty place, where to look if none of them fits."""
    scores = query @ key.mT / key.shape[-1] ** 0.5
    weights = torch.nn.functional.pad(scores, (0, 1)).softmax(dim=-1)[..., :-1]
    return weights @ value


def added_state(key: Keys, value: Values) -> Float[Tensor, "batch d_key d_value"]:
    """Linear attention: every fact adds key × value to one matrix, whatever is there already."""
    return key.mT @ value


class Memory(nn.Module):
    """One layer that reads facts and is asked about each: names and words in, words out.

    It keeps the last `window` facts as they are, and what is older in a matrix of `d_state` rows.
    Without either it has nothing.
    """

    def __init__(self, *, window: int = 0, d_state: int = 0) -> None:
        super().__init__()
        self.window, self.d_state = window, d_state
        self.names, self.words = nn.Embedding(N_NAMES, 64), nn.Embedding(N_NAMES, D_VALUE)
        self.query = nn.Linear(64, D_KEY, bias=False)
        self.key = nn.Linear(64, D_KEY, bias=False)
        self.state_query = nn.Linear(64, max(d_state, 1), bias=False)
        self.state_key = nn.Linear(64, max(d_state, 1), bias=False)
        self.read = nn.Linear(D_VALUE, N_NAMES)

    @property
    def n_kept(self) -> int:
        """Numbers that it keeps when all facts are read."""
        return self.window * (D_KEY + D_VALUE) + self.d_state * D_VALUE

    def forward(
        self, names: Tensor, words: Tensor, asked: Tensor
    ) -> Float[Tensor, "batch queries words"]:
        """Return the logits of the word that each asked name goes with."""
        about, value, ask = self.names(names), self.words(words), self.names(asked)
        n_old = names.shape[1] - self.window if self.window else names.shape[1]
        found = value.new_zeros(*asked.shape, D_VALUE)
        if self.window:
            last = slice(max(n_old, 0), None)
            found = look_up(self.query(ask), self.key(about[:, last]), value[:, last])
        if self.d_state and n_old > 0:
            key = nn.functional.normalize(self.state_key(about[:, :n_old]), dim=-1)
            query = nn.functional.normalize(self.state_query(ask), dim=-1)
            found = found + query @ added_state(key, value[:, :n_old])
        return self.read(found)
