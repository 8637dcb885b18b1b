"""How the time of a training step grows with sentence length and with the model's size.

The number of tokens in a step stays the same: what grows with length is attention (§4, Table 1).
Beside the time stand the operations of the step: where time grows faster, something else costs.

    python benchmarks/scaling.py [--threads 1] [--rounds 3]      # half a minute
"""

import argparse

import torch
from peers import TINY, clock_for, compare, print_table

from transformer.analysis.cost import forward_flops
from transformer.config import TransformerConfig
from transformer.model import Transformer
from transformer.training import Trainer, TrainSettings

TOKENS = 2048


def step_of(config: TransformerConfig, length: int) -> tuple[Trainer, list[list[int]]]:
    """A trainer, and one update of TOKENS tokens in sentences of that length."""
    words = list(range(4, 4 + length - 1))
    pairs = [(words, words)] * (TOKENS // length)
    settings = TrainSettings(max_tokens=TOKENS, warmup=100)
    return Trainer(Transformer(config), pairs, settings), [list(range(len(pairs)))]


def operations(config: TransformerConfig, length: int) -> int:
    """Floating-point operations of such a step: a backward pass takes twice the forward pass."""
    batch = TOKENS // length
    return 3 * forward_flops(config, source_len=length, target_len=length, batch=batch).total


def measure(cases: dict[str, tuple[TransformerConfig, int]], threads: int, rounds: int) -> None:
    runs = {}
    for name, (config, length) in cases.items():
        trainer, group = step_of(config, length)
        runs[name] = lambda trainer=trainer, group=group: trainer.step(group)
    seconds = compare(runs, rounds=rounds, clock=clock_for(threads))
    print_table(seconds, "a step")
    first, *_, last = seconds
    work = operations(*cases[last]) / operations(*cases[first])
    print(f"ratio {last} / {first}: {seconds[last] / seconds[first]:.2f}, operations {work:.2f}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    small = TINY.replace(vocab_size=1100, n_layers=2)
    print(f"{TOKENS} tokens a step, {args.threads} thread(s)")
    by_length = {f"length {n}": (small, n) for n in (16, 64, 256, 1024)}
    measure(by_length, args.threads, args.rounds)
    by_width = {
        f"d_model {d}": (small.replace(d_model=d, d_ff=2 * d), 16) for d in (64, 128, 256, 512)
    }
    measure(by_width, args.threads, args.rounds)
    by_depth = {f"{n} + {n} layers": (small.replace(n_layers=n), 16) for n in (1, 2, 4, 8)}
    measure(by_depth, args.threads, args.rounds)


if __name__ == "__main__":
    main()
