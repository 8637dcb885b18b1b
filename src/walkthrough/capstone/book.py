"""What a reader's model is compared with: the trained translator, and its numbers on the way."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from transformer.config import BOS_ID, EOS_ID, PAD_ID, TransformerConfig
from transformer.data.batching import collate
from transformer.data.codec import PhrasebookCodec
from transformer.model import Transformer
from walkthrough.capstone.weights import State, skeleton_names
from walkthrough.doctor.loading import sized
from walkthrough.lab.half_trained import load_translator
from walkthrough.page.results import FOLDER

SENTENCE = "Jane visite l'Afrique en septembre."
SENTENCES = (SENTENCE, "Paul dort.")
WRITTEN = ("Jane visits Africa in September.", "Paul sleeps")
"""What the decoder has read in the walk: lengths all differ, and the second has padding."""


@dataclass(frozen=True)
class Recorded:
    """A tensor that went into a module or came out of it, in the order of the calls."""

    path: str
    is_input: bool
    value: Tensor


@cache
def translator() -> tuple[Transformer, PhrasebookCodec]:
    """Return the book's trained model and its words."""
    return load_translator(FOLDER / "phrasebook-translator.safetensors")


def config() -> TransformerConfig:
    """Return the sizes of the trained model."""
    return translator()[0].config


def sizes() -> dict[str, Any]:
    """Return the sizes by the names of the skeleton's model."""
    given = config()
    names = ("vocab_size", "d_model", "n_heads", "n_layers", "d_ff", "dropout")
    return {name: getattr(given, name) for name in names}


def sizes_for(made: Any) -> dict[str, Any]:
    """Return the sizes by the names that somebody's class has for them."""
    given = config()
    known = {"vocab": given.vocab_size, "d_model": given.d_model, "head": given.n_heads,
             "layer": given.n_layers, "ff": given.d_ff, "d_k": given.d_k, "len": 128}  # fmt: skip
    return sized(made, known)


@cache
def state() -> State:
    """Return the trained weights under the names of the skeleton."""
    return skeleton_names(translator()[0].state_dict())


@cache
def batch() -> tuple[Tensor, Tensor]:
    """Return ids of the walk's sources and of the targets read so far, with padding."""
    codec = translator()[1]
    pairs = [
        (codec.encode(a), codec.encode_target(b)) for a, b in zip(SENTENCES, WRITTEN, strict=True)
    ]
    made = collate(pairs)
    return made.source, made.target_in


def words(side: int) -> Tensor:
    """Return where the walk's batch has words, of source (0) or target (1)."""
    return batch()[side] != PAD_ID


@dataclass(frozen=True)
class Block:
    """A place of Figure 1: where its numbers are seen in the skeleton, and the book's numbers."""

    name: str
    path: str
    is_input: bool
    side: int
    value: Tensor

    def difference(self, value: Tensor) -> float:
        """Return the largest difference at a word; infinite where the shape is another, or NaN."""
        if value.shape != self.value.shape:
            value = value.transpose(0, 1) if value.ndim == 3 else value
        if value.shape != self.value.shape:
            return torch.inf
        return float((value - self.value)[words(self.side)].abs().max())

    @property
    def tolerance(self) -> float:
        """What rounding may differ by."""
        return 2e-4 * max(1.0, float(self.value[words(self.side)].abs().max()))


@cache
def blocks() -> tuple[Block, ...]:
    """Return the places of Figure 1, in its order, with the book's numbers."""
    model, _ = translator()
    with torch.no_grad(), recorded(model) as seen:
        logits = model(*batch())
    places = list(_places(model.config.n_layers))
    found = [
        Block(name, path, is_input, side, _first(seen, ours, is_input))
        for name, path, ours, is_input, side in places
    ]
    return (*found, Block("the output: logits", "", False, 1, logits))


def _places(n_layers: int) -> Iterator[tuple[str, str, str, bool, int]]:
    for side, (stack, words_of) in enumerate((("encoder", "source"), ("decoder", "target"))):
        first = f"{stack}.layers.0.self_attention"
        yield f"the {words_of}'s embedding", "embedding", f"{words_of}_embedding", False, side
        yield f"the {words_of}'s embedding plus positions", f"{stack}.0", first, True, side
        for i in range(n_layers):
            sublayers = ["self_attention", *["cross_attention"] * side, "feed_forward"]
            parts = [x for j, name in enumerate(sublayers) for x in (name, f"residuals.{j}")]
            for before, part in zip(["", *parts], parts, strict=False):
                said = _SAID.get(part) or f"add & norm after the {_SAID[before]}"
                path = f"{stack}.{i}.{part}"
                ours = f"{stack}.layers.{i}.{part}"
                yield f"{stack} layer {i + 1}, {said}", path, ours, False, side
            yield (
                f"{stack} layer {i + 1}, its output",
                f"{stack}.{i}",
                ours[: -len(part) - 1],
                False,
                side,
            )


_SAID = {
    "self_attention": "self-attention",
    "cross_attention": "attention to the encoder's output",
    "feed_forward": "feed-forward network",
}


def _first(seen: list[Recorded], path: str, is_input: bool) -> Tensor:
    return next(one.value for one in seen if one.path == path and one.is_input == is_input)


@contextmanager
def recorded(model: nn.Module) -> Iterator[list[Recorded]]:
    """Record the first tensor that goes into each module and the first that comes out."""
    seen: list[Recorded] = []
    hooks = []
    for path, module in model.named_modules(remove_duplicate=False):
        hooks.append(module.register_forward_hook(_recorder(path, seen), with_kwargs=True))
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


def _recorder(path: str, seen: list[Recorded]) -> Callable[..., None]:
    def hook(module: nn.Module, inputs: Any, named: Any, output: Any) -> None:
        came_out = output if isinstance(output, (tuple, list)) else (output,)
        for values, is_input in (((*inputs, *named.values()), True), (came_out, False)):
            for value in [x for x in values if isinstance(x, Tensor)][:1]:
                # a copy: what comes next may change it in place
                seen.append(Recorded(path, is_input, value.detach().clone()))

    return hook


@torch.no_grad()
def greedy(
    logits: Callable[[Tensor, Tensor], Tensor], sources: list[list[int]], extra: int = 50
) -> list[list[int]]:
    """Return ids of the most probable next word, again and again, from any function to logits."""
    width = max(map(len, sources))
    source = torch.tensor([ids + [PAD_ID] * (width - len(ids)) for ids in sources])
    target = torch.full((len(source), 1), BOS_ID)
    written: list[list[int]] = [[] for _ in sources]
    rows = torch.arange(len(sources))  # finished sentences leave the computation
    for _ in range(width + extra):
        step = logits(source, target)[:, -1].clone()
        step[:, [PAD_ID, BOS_ID]] = -torch.inf
        word = step.argmax(-1)
        goes_on = word != EOS_ID
        rows, source = rows[goes_on], source[goes_on]
        target = torch.cat([target, word[:, None]], dim=1)[goes_on]
        for row, ids in zip(rows.tolist(), target.tolist(), strict=True):
            written[row] = ids[1:]
        if not len(rows):
            break
    return written
