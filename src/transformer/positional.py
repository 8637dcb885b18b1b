"""Positional encodings: sinusoidal and learned (§3.5)."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def sinusoidal_encoding(
    length: int, d_model: int, *, base: float = 10000.0, start: int = 0
) -> Float[Tensor, "length d_model"]:
    """Return PE(pos, 2i) = sin(pos / base^(2i/d_model)), PE(pos, 2i+1) = cos(same) (§3.5).

    Rows are the positions start … start + length − 1. An odd d_model ends with a sine.

    Raises:
        ValueError: length or start is negative, d_model is not positive, or base is not above 0.
    """
    if length < 0 or start < 0:
        raise ValueError(f"length and start must not be negative, got {length} and {start}")
    if d_model < 1:
        raise ValueError(f"d_model must be at least 1, got {d_model}")
    if base <= 0:
        raise ValueError(f"base must be positive, got {base}")
    # float64: at position 10^5 the angles of float32 are already wrong in the third decimal
    position = torch.arange(start, start + length, dtype=torch.float64)[:, None]  # (length, 1)
    even_dims = torch.arange(0, d_model, 2, dtype=torch.float64)  # 2i
    angle = position / base ** (even_dims / d_model)  # (length, ceil(d_model / 2))
    encoding = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)  # sin, cos, sin, cos, …
    return encoding[:, :d_model].to(torch.get_default_dtype())


class SinusoidalEncoding(nn.Module):
    """The fixed encoding of §3.5, with the first `max_len` positions kept in a table.

    Positions past the table are computed when they are asked for.
    """

    table: Tensor

    def __init__(self, *, d_model: int, max_len: int = 5000) -> None:
        super().__init__()
        self.d_model = d_model
        self.register_buffer("table", sinusoidal_encoding(max_len, d_model), persistent=False)

    def forward(self, length: int, start: int = 0) -> Float[Tensor, "length d_model"]:
        """Return the encodings of positions start … start + length − 1."""
        if start + length <= len(self.table):
            return self.table[start : start + length]
        return sinusoidal_encoding(length, self.d_model, start=start).to(self.table)


class LearnedEncoding(nn.Module):
    """One learned vector for each of `max_len` positions (§3.5, Table 3 row E)."""

    def __init__(self, *, d_model: int, max_len: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(max_len, d_model))
        nn.init.normal_(self.weight, std=d_model**-0.5)

    def forward(self, length: int, start: int = 0) -> Float[Tensor, "length d_model"]:
        """Return the vectors of positions start … start + length − 1.

        Raises:
            ValueError: a position lies past the table; there is no vector for it.
        """
        if start + length > len(self.weight):
            raise ValueError(
                f"learned encodings exist for {len(self.weight)} positions, "
                f"got a sequence of {start + length}: raise max_len and train again"
            )
        return self.weight[start : start + length]
