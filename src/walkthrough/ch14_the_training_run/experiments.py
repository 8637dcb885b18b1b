"""The translator of the preset, and models with one part broken, to be told apart (§3, §5)."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer.config import BOS_ID, EOS_ID, PAD_ID, TransformerConfig
from transformer.model import Transformer
from walkthrough.ch14_the_training_run import measuring
from walkthrough.lab import Arm, Experiment, Job, Trained
from walkthrough.lab.measures import exact, perplexity
from walkthrough.lab.tasks import phrasebook

SIZES = TransformerConfig(vocab_size=60, d_model=32, d_ff=64, n_heads=4, n_layers=1, dropout=0.2)
"""Small, because a check asks such models some thousand times."""
Ids = tuple[Tensor, Tensor]


class _AlwaysDropping(nn.Module):
    """Dropout that does not listen to `eval()`."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.p, training=True)


def _dropout_stays_on(model: Transformer) -> None:
    setattr(model, "dropout", _AlwaysDropping(model.config.dropout))  # noqa: B010


def _padding_is_read(model: Transformer) -> None:
    # the encoder's mask lets every query attend to every place
    model.encoder.register_forward_pre_hook(
        lambda _module, given: (given[0], torch.ones_like(given[1]), *given[2:])
    )


def _source_is_not_read(model: Transformer) -> None:
    # the decoder gets an empty memory in place of the encoder's
    model.decoder.register_forward_pre_hook(
        lambda _module, given: (given[0], torch.zeros_like(given[1]), *given[2:])
    )


def _sentences_mix(model: Transformer) -> None:
    # as a reshape in the wrong order, or a norm over the batch, would do
    def mix(_module: nn.Module, _given: Any, result: tuple[Tensor, Any]) -> tuple[Tensor, Any]:
        states, weights = result
        return 0.7 * states + 0.3 * states.mean(dim=0, keepdim=True), weights

    model.encoder.register_forward_hook(mix)


_BREAKS: Mapping[str, tuple[dict[str, Any], Callable[[Transformer], None] | None]] = {
    "nothing": ({}, None),
    "dropout": ({}, _dropout_stays_on),
    "target mask": ({"causal": False}, None),
    "padding mask": ({}, _padding_is_read),
    "positions": ({"positions": "none"}, None),
    "source": ({}, _source_is_not_read),
    "batch": ({}, _sentences_mix),
}
PARTS = tuple(_BREAKS)
"""What may be broken in a model of `broken_model`, and "nothing"."""


def broken_model(part: str, *, seed: int) -> Transformer:
    """Return a small untrained model, switched to evaluation, with one part broken.

    Raises:
        ValueError: there is no such part.
    """
    if part not in _BREAKS:
        raise ValueError(f"part must be among {', '.join(PARTS)}; got {part!r}")
    changes, break_it = _BREAKS[part]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Transformer(SIZES.replace(**changes)).eval()
    if break_it is not None:
        break_it(model)
    return model.requires_grad_(False)


def patients(order: str = "ECAFBDG") -> dict[str, Callable[[Tensor, Tensor], Tensor]]:
    """Return seven models by letter: one in order, and one for each part that can be broken.

    They are handed out as functions from (source, target_in) to logits, as only experiments shall
    tell them apart.
    """
    parts = dict(zip(order, PARTS, strict=True))
    models = {name: broken_model(parts[name], seed=20 + n) for n, name in enumerate(sorted(order))}
    return {name: partial(_logits, model) for name, model in models.items()}


def _logits(model: Transformer, source: Tensor, target_in: Tensor) -> Tensor:
    return model(source, target_in)


def two_sentences(seed: int = 0) -> Ids:
    """Return source and target_in of two sentences of random words; the second source is padded."""
    generator = torch.Generator().manual_seed(seed)
    source = torch.randint(4, 60, (2, 7), generator=generator)
    source[:, -1] = EOS_ID
    source[1, -3:] = torch.tensor([EOS_ID, PAD_ID, PAD_ID])
    target_in = torch.randint(4, 60, (2, 5), generator=generator)
    target_in[:, 0] = BOS_ID
    return source, target_in


def aligned_heads(job: Job, trained: Trained) -> Mapping[str, Any]:
    """Return the alignment error of every encoder–decoder head, and of the diagonal."""
    examples = job.data.book.splits()["test_sentences"][: measuring.N_ALIGNED]
    return {
        "heads": measuring.head_errors(trained.model, job.data, examples).tolist(),
        "diagonal": measuring.diagonal_error(examples),
    }


EXPERIMENT = Experiment(
    name="14-phrasebook",
    question="What does the translator of the preset reach, and do its heads find words?",
    task=phrasebook(),
    arms=[Arm("preset", after=aligned_heads)],
    seeds=(1, 2, 3),
    lengths=(900,),
    measures=[perplexity("valid"), exact("valid", "test_sentences", "test_combinations")],
)
