"""What a reader's model is compared with: the trained translator, and its numbers on the way."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor, nn

from phrasebook.codec import PhrasebookCodec
from transformer.config import BOS_ID, EOS_ID, PAD_ID, TransformerConfig
from transformer.data.batching import collate
from transformer.model import Transformer
from walkthrough.capstone.weights import State, skeleton_names
from walkthrough.doctor.loading import sized
from walkthrough.lab.half_trained import load_translator
from walkthrough.page.results import FOLDER

SENTENCE = "Jane visite l'Afrique en septembre."
SENTENCES = (SENTENCE, "Paul dort.")
WRITTEN = ("Jane visits Africa in September.", "Paul sleeps")
"""What the decoder has read in the walk: lengths all differ, and the second has padding."""
SUBLAYERS = {
    "self_attention": "self-attention",
    "cross_attention": "attention to the encoder's output",
    "feed_forward": "feed-forward network",
}


@cache
def translator() -> tuple[Transformer, PhrasebookCodec]:
    """Return the book's trained model and its words."""
    return load_translator(FOLDER / "phrasebook-translator.safetensors")


def config() -> TransformerConfig:
    """Return the sizes of the trained model."""
    return translator()[0].config


def sizes() -> dict[str, Any]:
    """Return the sizes by the names of the skeleton's model."""
    names = ("vocab_size", "d_model", "n_heads", "n_layers", "d_ff", "dropout")
    return {name: getattr(config(), name) for name in names}


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
    codec, both = translator()[1], zip(SENTENCES, WRITTEN, strict=True)
    made = collate([(codec.encode(a), codec.encode_target(b)) for a, b in both])
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
        if value.shape != self.value.shape and value.ndim == 3:
            value = value.transpose(0, 1)
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
    first = {(one.path, one.is_input): one.value for one in reversed(seen)}
    return (
        *(
            Block(name, path, is_input, side, first[ours, is_input])
            for name, path, ours, is_input, side in _places(model.config.n_layers)
        ),
        Block("the output: logits", "", False, 1, logits),
    )


def _places(n_layers: int) -> Iterator[tuple[str, str, str, bool, int]]:
    """Yield a block's name, its place in the skeleton and in the package, whether it is an input,
    and the side."""
    for side, (stack, read) in enumerate((("encoder", "source"), ("decoder", "target"))):
        first = f"{stack}.layers.0.self_attention"
        yield f"the {read}'s embedding", "embedding", f"{read}_embedding", False, side
        yield f"the {read}'s embedding plus positions", f"{stack}.0", first, True, side
        for i in range(n_layers):
            own, ours = f"{stack}.{i}", f"{stack}.layers.{i}"
            parts = ["self_attention", *["cross_attention"] * side, "feed_forward"]
            named = {}
            for j, part in enumerate(parts):
                named[f".{part}"] = SUBLAYERS[part]
                named[f".residuals.{j}"] = f"add & norm after the {SUBLAYERS[part]}"
            for path, name in (named | {"": "its output"}).items():
                yield f"{stack} layer {i + 1}, {name}", f"{own}{path}", f"{ours}{path}", False, side


@dataclass(frozen=True)
class Recorded:
    """A tensor that went into a module or came out of it, in the order of the calls."""

    path: str
    is_input: bool
    value: Tensor


@contextmanager
def recorded(model: nn.Module) -> Iterator[list[Recorded]]:
    """Record the first tensor that goes into each module and the first that comes out."""
    seen: list[Recorded] = []

    def note(path: str, _: nn.Module, inputs: Any, named: Any, output: Any) -> None:
        came_out = output if isinstance(output, (tuple, list)) else (output,)
        for values, is_input in (((*inputs, *named.values()), True), (came_out, False)):
            for value in [x for x in values if isinstance(x, Tensor)][:1]:
                # a copy: what comes next may change it in place
                seen.append(Recorded(path, is_input, value.detach().clone()))

    with ExitStack() as hooks:
        for path, module in model.named_modules(remove_duplicate=False):
            hook = module.register_forward_hook(partial(note, path), with_kwargs=True)
            hooks.enter_context(hook)
        yield seen


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
