"""What goes in and comes out of every block of Figure 1, recorded in a real run (§3)."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor, nn

from transformer.config import TransformerConfig
from transformer.model import Transformer

Shape = tuple[int, ...]
Shapes = Mapping[str, Mapping[str, Shape]]
"""Block of Figure 1 → what is inside → its shape."""

# Block of Figure 1 → where it sits in the model; of the N layers, the first.
MODULES = {
    "source-embedding": "source_embedding",
    "source-positions": "positions",
    "encoder-attention": "encoder.layers.0.self_attention",
    "encoder-attention-norm": "encoder.layers.0.residuals.0",
    "encoder-feed-forward": "encoder.layers.0.feed_forward",
    "encoder-feed-forward-norm": "encoder.layers.0.residuals.1",
    "target-embedding": "target_embedding",
    "target-positions": "positions",
    "decoder-attention": "decoder.layers.0.self_attention",
    "decoder-attention-norm": "decoder.layers.0.residuals.0",
    "cross-attention": "decoder.layers.0.cross_attention",
    "cross-attention-norm": "decoder.layers.0.residuals.1",
    "decoder-feed-forward": "decoder.layers.0.feed_forward",
    "decoder-feed-forward-norm": "decoder.layers.0.residuals.2",
}


@torch.no_grad()
def record_shapes(
    model: Transformer,
    source: Int[Tensor, "batch source_len"],
    target: Int[Tensor, "batch target_len"],
) -> Shapes:
    """Run the model and return the shape of everything between tokens and probabilities.

    Raises:
        ValueError: the model has no positional encoding, so Figure 1 has blocks that it lacks.
    """
    if model.positions is None:
        raise ValueError("Figure 1 adds positional encodings; got a model with positions='none'")
    seen: dict[str, dict[str, Shape]] = {}
    with _watched(model, seen):
        model.attention(source, target)  # the path that keeps the weights
        states = model.states(source, target)
    logits = model.project(states)
    seen["projection"] = {
        "in": tuple(states.shape),
        "logits": tuple(logits.shape),
        "out": tuple(logits.softmax(-1).shape),
    }
    for side in ("source", "target"):
        embedded = seen[f"{side}-embedding"]["out"]
        first = "encoder" if side == "source" else "decoder"
        entered = seen[f"{first}-attention"]["in"]
        seen[f"{side}-positions"] = {"in": embedded, "out": entered}
    return {name: seen[name] for name in [*MODULES, "projection"]}


@contextmanager
def _watched(model: Transformer, seen: dict[str, dict[str, Shape]]) -> Iterator[None]:
    hooks = []
    for name, path in MODULES.items():
        module = model.get_submodule(path)
        if name.endswith("-positions"):
            continue
        hooks.append(module.register_forward_hook(_ends(seen.setdefault(name, {}))))
        for part, child in (
            ("queries", "query_proj"),
            ("keys", "key_proj"),
            ("values", "value_proj"),
            ("hidden", "expand"),
        ):
            if hasattr(module, child):
                inner = module.get_submodule(child)
                hooks.append(inner.register_forward_hook(_inside(seen[name], part, module)))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _ends(record: dict[str, Shape]) -> Callable[..., None]:
    def look(module: nn.Module, given: tuple[Any, ...], result: Any) -> None:
        record["in"] = tuple(given[0].shape)
        if isinstance(result, tuple):  # attention: output and weights
            if given[1] is not given[0]:
                record["memory"] = tuple(given[1].shape)
            result, weights = result
            if weights is not None:
                record["weights"] = tuple(weights.shape)
        record["out"] = tuple(result.shape)

    return look


def _inside(record: dict[str, Shape], part: str, module: nn.Module) -> Callable[..., None]:
    def look(_: nn.Module, given: tuple[Any, ...], result: Tensor) -> None:
        shape = result if part == "hidden" else module.split_heads(result)  # type: ignore[operator]
        record[part] = tuple(shape.shape)

    return look


@dataclass(frozen=True)
class Parameters:
    """Trained values of one block, and how many layers have such a block of their own."""

    each: int
    copies: int
    shared_with: str | None = None

    @property
    def total(self) -> int:
        """In all layers; a matrix that another block has counted already counts nothing."""
        return 0 if self.shared_with else self.each * self.copies


def block_parameters(model: Transformer) -> dict[str, Parameters]:
    """Return the parameters of every block of Figure 1; the totals add up to the whole model."""
    counted = {}
    owners: dict[int, str] = {}
    for name, path in [*MODULES.items(), ("projection", "")]:
        found = (
            [model.output_weight]
            if name == "projection"
            else list(model.get_submodule(path).parameters())
        )
        owner = next((owners[id(p)] for p in found if id(p) in owners), None)
        owners |= {id(p): name for p in found if id(p) not in owners}
        copies = model.config.n_layers if ".layers." in path else 1
        counted[name] = Parameters(sum(p.numel() for p in found), copies, owner)
    return counted


def symbols(config: TransformerConfig, source: Tensor, target: Tensor) -> dict[int, str]:
    """Return the symbol of every size in such a run, so that a shape can be read in both ways.

    Raises:
        ValueError: two sizes are equal, and a number would have two meanings.
    """
    sizes = {
        "B": source.shape[0],
        "S": source.shape[1],
        "T": target.shape[1],
        "h": config.n_heads,
        "d_k": config.d_k or 0,
        "d_model": config.d_model,
        "d_ff": config.d_ff,
        "V": config.vocab_size,
    }
    if len(set(sizes.values())) < len(sizes):
        raise ValueError(f"all sizes must differ, so that a shape says what is what; got {sizes}")
    return {size: name for name, size in sizes.items()}


def in_symbols(shape: Shape, names: Mapping[int, str]) -> str:
    """Return e.g. "(B, S, d_model)"."""
    return f"({', '.join(names[size] for size in shape)})"
