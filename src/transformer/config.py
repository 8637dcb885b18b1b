"""The model's sizes and choices in one frozen object (§3, Table 3)."""

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, get_args

from transformer.fields import check_types

PAD_ID, BOS_ID, EOS_ID, UNK_ID = 0, 1, 2, 3
"""Ids of the padding, start, end and unknown tokens in every vocabulary of this package."""

Positions = Literal["sinusoidal", "learned", "none"]
Norm = Literal["post", "pre"]
ResidualInit = Literal["scaled", "xavier"]
Activation = Literal["relu", "swish"]

ADDED: dict[str, Any] = {"target_vocab_size": None, "activation": "relu", "output_bias": False}
"""Fields that came later, with the value that a file without them means."""


@dataclass(frozen=True, kw_only=True)
class TransformerConfig:
    """Sizes in the paper's names; the defaults are the base model of §3 and Table 3.

    `d_k` and `d_v` left out mean d_model / n_heads (§3.2.2). `norm` is explained in
    `transformer.layers`, `residual_init` in `Transformer.reset_parameters`. The last three switches
    exist so that a chapter can break one thing at a time and show what it was for: the division by
    √d_k, the factor √d_model, the target mask. `activation` and `output_bias` are there to read
    published models (`transformer.marian`), which differ from the paper in these.

    One vocabulary serves both sides (§5.1), unless `target_vocab_size` gives the target its own:
    brackets instead of words, for instance (§6.3). No matrix can then be shared (§3.4).

    Raises:
        ValueError: a value has another type than its field, a size is not positive, d_model is not
            a multiple of n_heads while d_k or d_v is derived from them, a dropout lies outside
            [0, 1), a choice has no such option, or embeddings of two vocabularies are tied.
    """

    vocab_size: int
    target_vocab_size: int | None = None
    d_model: int = 512
    n_heads: int = 8
    n_layers: int = 6
    d_ff: int = 2048
    d_k: int | None = None
    d_v: int | None = None
    dropout: float = 0.1
    attention_dropout: float = 0.0
    max_len: int = 5000
    positions: Positions = "sinusoidal"
    norm: Norm = "post"
    bias: bool = True
    tie_embeddings: bool = True
    residual_init: ResidualInit = "scaled"
    layer_norm_eps: float = 1e-5
    scale_scores: bool = True
    scale_embeddings: bool = True
    causal: bool = True
    activation: Activation = "relu"
    output_bias: bool = False

    def __post_init__(self) -> None:
        """Check every field and derive d_k and d_v."""
        check_types(self)
        for name in ("vocab_size", "d_model", "n_heads", "n_layers", "d_ff", "max_len"):
            _require_positive(name, getattr(self, name))
        for name in ("d_k", "d_v"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, head_size(self.d_model, self.n_heads))
            _require_positive(name, getattr(self, name))
        for name in ("dropout", "attention_dropout"):
            if not 0.0 <= getattr(self, name) < 1.0:
                raise ValueError(f"{name} must lie in [0, 1), got {getattr(self, name)}")
        if self.layer_norm_eps <= 0:
            raise ValueError(f"layer_norm_eps must be positive, got {self.layer_norm_eps}")
        for name in ("vocab_size", "target_vocab_size"):
            size = getattr(self, name)
            if size is not None and size <= UNK_ID:
                raise ValueError(f"{name} must exceed the {UNK_ID + 1} special tokens, got {size}")
        if self.target_vocab_size is not None and self.tie_embeddings:
            raise ValueError(
                "tie_embeddings must be off when the target has its own vocabulary: one matrix "
                f"cannot serve {self.vocab_size} source and {self.target_vocab_size} target tokens"
            )
        for name, options in (
            ("positions", Positions),
            ("norm", Norm),
            ("residual_init", ResidualInit),
            ("activation", Activation),
        ):
            if getattr(self, name) not in get_args(options):
                raise ValueError(
                    f"{name} must be one of {get_args(options)}, got {getattr(self, name)!r}"
                )

    @property
    def vocab_sizes(self) -> tuple[int, int]:
        """Sizes of the source's and of the target's vocabulary; equal when they are one."""
        target = self.target_vocab_size
        return self.vocab_size, self.vocab_size if target is None else target

    @classmethod
    def base(cls, vocab_size: int = 37000, **changes: Any) -> "TransformerConfig":
        """Return the base model: N=6, d_model=512, d_ff=2048, h=8 (Table 3, first row)."""
        return cls(**{"vocab_size": vocab_size, **changes})

    @classmethod
    def big(cls, vocab_size: int = 37000, **changes: Any) -> "TransformerConfig":
        """Return the big model: d_model=1024, d_ff=4096, h=16, dropout 0.3 (Table 3, last row)."""
        sizes = {"d_model": 1024, "d_ff": 4096, "n_heads": 16, "dropout": 0.3}
        return cls(**{"vocab_size": vocab_size, **sizes, **changes})

    @classmethod
    def tiny(cls, vocab_size: int, **changes: Any) -> "TransformerConfig":
        """Return a model that trains on a laptop in a minute: N=2, d_model=128, d_ff=512, h=4."""
        sizes = {"d_model": 128, "d_ff": 512, "n_heads": 4, "n_layers": 2}
        return cls(**{"vocab_size": vocab_size, **sizes, **changes})

    @classmethod
    def table3(cls, vocab_size: int = 37000) -> dict[str, "TransformerConfig"]:
        """Return every model of Table 3 by row and change, e.g. "A h=4" or "C N=2" (§6.2).

        The rows on label smoothing (part of D) change the loss, not the model, and are not here.
        """
        rows: dict[str, dict[str, Any]] = {"base": {}}
        rows |= {f"A h={h}": {"n_heads": h} for h in (1, 4, 16, 32)}
        rows |= {f"B d_k={d_k}": {"d_k": d_k} for d_k in (16, 32)}
        rows |= {f"C N={n}": {"n_layers": n} for n in (2, 4, 8)}
        rows |= {f"C d_model={d}": {"d_model": d} for d in (256, 1024)}
        rows |= {f"C d_ff={d}": {"d_ff": d} for d in (1024, 4096)}
        rows |= {f"D dropout={p}": {"dropout": p} for p in (0.0, 0.2)}
        rows |= {"E learned positions": {"positions": "learned"}}
        models = {name: cls.base(vocab_size, **change) for name, change in rows.items()}
        return models | {"big": cls.big(vocab_size)}

    def replace(self, **changes: Any) -> "TransformerConfig":
        """Return a copy with `changes`; d_k and d_v stay derived where they were.

        Raises:
            ValueError: as at construction.
            TypeError: a change names no field.
        """
        derived = self.d_model / self.n_heads  # not rounded: a rounded size was chosen
        for name in ("d_k", "d_v"):
            if getattr(self, name) == derived:
                changes.setdefault(name, None)
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, for JSON; of those in `ADDED`, what was chosen.

        So the files of the paper's model are the same, byte for byte, as before there was a choice.
        """
        values = asdict(self)
        return {n: value for n, value in values.items() if n not in ADDED or value != ADDED[n]}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "TransformerConfig":
        """Rebuild a configuration from `to_dict`.

        Raises:
            ValueError: a key is unknown (written by another version), or a value is not allowed.
        """
        unknown = sorted(set(values) - {field.name for field in fields(cls)})
        if unknown:
            raise ValueError(f"unknown configuration fields: {unknown}")
        return cls(**values)


def head_size(d_model: int, n_heads: int) -> int:
    """Return d_model / n_heads, the paper's d_k and d_v (§3.2.2).

    Raises:
        ValueError: it is not a whole number.
    """
    if d_model % n_heads:
        raise ValueError(
            "d_model must be a multiple of n_heads while d_k or d_v is not given: "
            f"got d_model={d_model}, n_heads={n_heads}"
        )
    return d_model // n_heads


def _require_positive(name: str, value: int) -> None:
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {value!r}")
