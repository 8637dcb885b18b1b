"""Models with one fault each, for an exercise of chapter 09: which part is broken? (§3.1).

Every fault leaves all shapes as they should be. It shows in what moves the result and what does
not: another input, other weights of a layer.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer.config import PAD_ID, TransformerConfig
from transformer.masks import causal_mask, padding_mask
from transformer.model import Transformer

FAULTS = (
    "future",
    "padding",
    "deaf",
    "no encoder",
    "one layer",
    "level",
    "last layer",
    "no positions",
)
SMALL = TransformerConfig(vocab_size=20, d_model=16, n_heads=2, n_layers=3, d_ff=32, dropout=0.0)
OF_FIVE = {"A": "padding", "B": "last layer", "C": "no encoder", "D": "level", "E": "no positions"}
SOURCE = torch.tensor([[5, 6, 7, 8, 9]])
TARGET = torch.tensor([[1, 10, 11, 12]])


class SmallModel(nn.Module):
    """An encoder and a decoder of three layers with random weights; `fault` breaks one thing.

    Raises:
        ValueError: there is no such fault.
    """

    def __init__(self, fault: str | None = None, *, seed: int = 0) -> None:
        super().__init__()
        if fault not in (None, *FAULTS):
            raise ValueError(f"fault must be one of {', '.join(FAULTS)}, got {fault!r}")
        self._fault = fault
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            torch.manual_seed(seed)
            whole = Transformer(SMALL)
            for parameter in whole.parameters():
                parameter.add_(0.1 * torch.randn_like(parameter))
        self.embedding, self.positions = whole.source_embedding, whole.positions
        self.encoder, self.decoder = whole.encoder, whole.decoder
        self.eval()

    def forward(
        self, source: Int[Tensor, "batch source_len"], target: Int[Tensor, "batch target_len"]
    ) -> Float[Tensor, "batch target_len vocab_size"]:
        """Return the logits."""
        x, y = self._embed(source, side="source"), self._embed(target, side="target")
        inside, back = padding_mask(source), causal_mask(target.shape[1])
        levels = self._encode(x, inside)
        memory = {"no encoder": x, "deaf": torch.zeros_like(x)}.get(str(self._fault), levels[-1])
        if self._fault == "padding":
            inside = torch.ones_like(inside)
        if self._fault == "future":
            back = torch.ones_like(back)
        z = y
        for level, layer in zip(levels, self.decoder.layers, strict=True):
            start = y if self._fault == "last layer" else z
            z, *_ = layer(start, level if self._fault == "level" else memory, back, inside)
        logits: Tensor = z @ self.embedding.weight.T
        return logits

    def _embed(self, tokens: Tensor, *, side: str) -> Tensor:
        x: Tensor = self.embedding(tokens)
        if self.positions is None or (self._fault == "no positions" and side == "source"):
            return x
        return x + self.positions(tokens.shape[1], 0)

    def _encode(self, x: Tensor, inside: Tensor) -> list[Tensor]:
        layers = list(self.encoder.layers)
        if self._fault == "one layer":
            layers = layers[:1] * len(layers)
        levels = []
        for layer in layers:
            x, _ = layer(x, inside)
            levels.append(x)
        return levels


def five_models() -> dict[str, SmallModel]:
    """Return five models that look alike and have one fault each."""
    return {
        name: SmallModel(fault, seed=seed) for seed, (name, fault) in enumerate(OF_FIVE.items())
    }


@torch.no_grad()
def observed(model: SmallModel) -> Mapping[str, bool]:
    """Return what moves the result of a model, by what was changed."""
    first, last = model.encoder.layers[0], model.encoder.layers[-1]
    padded = torch.nn.functional.pad(SOURCE, (0, 2), value=PAD_ID)
    later = TARGET.clone()
    later[0, -1] = 15
    before = model(SOURCE, TARGET)
    seen = {
        "later target": _differ(before[:, :-1], model(SOURCE, later)[:, :-1]),
        "padding": _differ(before, model(padded, TARGET)),
        "other source": _differ(before, model(SOURCE + 5, TARGET)),
        "order": _differ(before, model(SOURCE.flip(1), TARGET)),
    }
    for name, layer in (
        ("first encoder layer", first),
        ("last encoder layer", last),
        ("first decoder layer", model.decoder.layers[0]),
    ):
        with _moved(layer):
            seen[name] = _differ(before, model(SOURCE, TARGET))
    inner = _of_first_decoder_layer(model)
    with _moved(last):
        seen["last encoder layer, inside"] = _differ(inner, _of_first_decoder_layer(model))
    return seen


def _differ(one: Tensor, other: Tensor) -> bool:
    return not torch.allclose(one, other, atol=1e-4)


@contextmanager
def _moved(layer: nn.Module) -> Iterator[None]:
    kept = {name: value.clone() for name, value in layer.state_dict().items()}
    for parameter in layer.parameters():
        parameter.add_(0.5)
    try:
        yield
    finally:
        layer.load_state_dict(kept)


def _of_first_decoder_layer(model: SmallModel) -> Tensor:
    found: list[Tensor] = []
    hook = model.decoder.layers[0].register_forward_hook(lambda *call: found.append(call[2][0]))
    model(SOURCE, TARGET)
    hook.remove()
    return found[0]
