"""`torch.nn.Transformer` as people use it, with the same sizes and the same places of dropout."""

import time
from collections.abc import Callable

import torch.nn.functional as F
from torch import Tensor, nn

from transformer.config import PAD_ID, TransformerConfig
from transformer.positional import sinusoidal_encoding
from walkthrough.lab.peers import future_mask, torch_stacks

TINY = TransformerConfig(
    vocab_size=10_260, d_model=128, n_heads=4, n_layers=4, d_ff=256, dropout=0.3
)
"""The sizes of the preset `multi30k-tiny`."""


class TorchTransformer(nn.Module):
    """Embedding, `nn.Transformer`, tied projection."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model, padding_idx=PAD_ID)
        nn.init.normal_(self.embedding.weight, std=config.d_model**-0.5)
        self.transformer = torch_stacks(config)
        self.dropout = nn.Dropout(config.dropout)
        self.register_buffer("positions", sinusoidal_encoding(1000, config.d_model))
        self._dropout_only_where_the_paper_has_it()

    def _dropout_only_where_the_paper_has_it(self) -> None:
        # nn.Transformer also drops attention weights and the feed-forward's inner layer
        for module in self.modules():
            if isinstance(module, nn.MultiheadAttention):
                module.dropout = 0.0
            elif isinstance(module, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
                module.dropout.p = 0.0

    @property
    def output_weight(self) -> Tensor:
        """The tied matrix, under our name for it."""
        return self.embedding.weight

    def embed(self, tokens: Tensor) -> Tensor:
        """Embedding, scaled, plus encoding (§3.4, §3.5)."""
        scaled = self.embedding(tokens) * self.config.d_model**0.5
        return self.dropout(scaled + self.positions[: tokens.shape[1]])

    def states(self, source: Tensor, target: Tensor) -> Tensor:
        """The decoder's output."""
        return self.transformer(
            self.embed(source),
            self.embed(target),
            tgt_mask=future_mask(target),
            tgt_is_causal=True,
            src_key_padding_mask=source == PAD_ID,
            memory_key_padding_mask=source == PAD_ID,
        )

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Logits of every position."""
        return F.linear(self.states(source, target), self.embedding.weight)


class PeerLoss(nn.Module):
    """Logits, then PyTorch's cross-entropy with label smoothing: the usual way."""

    def __init__(self, model: TorchTransformer, smoothing: float) -> None:
        super().__init__()
        self.model, self.smoothing = model, smoothing

    def forward(self, source: Tensor, target_in: Tensor, target_out: Tensor) -> Tensor:
        """The smoothed loss, summed over tokens."""
        logits = self.model(source, target_in)
        return F.cross_entropy(
            logits.flatten(0, 1),
            target_out.flatten(),
            ignore_index=PAD_ID,
            label_smoothing=self.smoothing,
            reduction="sum",
        )


def compare(
    contenders: dict[str, Callable[[], object]], *, rounds: int, clock: Callable[[], float]
) -> dict[str, float]:
    """Run the contenders in turns; return the median seconds of each."""
    for run in contenders.values():
        run()
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            began = clock()
            run()
            seconds[name].append(clock() - began)
    return {name: sorted(values)[len(values) // 2] for name, values in seconds.items()}


def clock_for(threads: int) -> Callable[[], float]:
    """Processor time with one thread, which other work on the machine disturbs less."""
    return time.process_time if threads == 1 else time.perf_counter


def print_table(seconds: dict[str, float], unit: str) -> None:
    width = max(map(len, seconds))
    for name, value in seconds.items():
        print(f"{name:<{width}}  {1000 * value:9.1f} ms {unit}")
