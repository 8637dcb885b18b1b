"""One training step of the preset multi30k-tiny: ours against nn.Transformer in the same loop.

Both go through `Trainer.step` with the same batches and the same Adam. They differ in the model's
code and in the loss (ours computes projection, softmax and smoothing together).

    python benchmarks/train_step.py [--threads 1] [--rounds 7]
"""

import argparse
import random

import torch
from peers import TINY, PeerLoss, TorchTransformer, clock_for, compare, print_table

from transformer.data.batching import Pair
from transformer.model import Transformer
from transformer.training import Trainer, TrainSettings


def random_pairs(number: int = 3000) -> list[Pair]:
    """Lengths like Multi30k's."""
    draw = random.Random(0)
    pairs = []
    for _ in range(number):
        length = max(3, round(draw.gauss(14, 4)))
        sides = [length, max(3, length + draw.randint(-3, 3))]
        source, target = ([draw.randint(4, TINY.vocab_size - 1) for _ in range(n)] for n in sides)
        pairs.append((source, target))
    return pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    settings = TrainSettings(
        max_tokens=2048, schedule="linear", peak=3e-3, warmup=800, max_updates=6000
    )
    pairs = random_pairs()
    ours = Trainer(Transformer(TINY), pairs, settings)
    peer_model = TorchTransformer(TINY)
    peer = Trainer(Transformer(TINY), pairs, settings)
    peer.model = peer_model  # type: ignore[assignment]
    peer.optimizer = torch.optim.Adam(peer_model.parameters(), **peer.optimizer.defaults)
    peer.loss = PeerLoss(peer_model, settings.smoothing)
    groups = ours.groups(0)[:3]

    def three_steps(trainer: Trainer) -> None:
        for group in groups:
            trainer.step(group)

    seconds = compare(
        {"this package": lambda: three_steps(ours), "nn.Transformer": lambda: three_steps(peer)},
        rounds=args.rounds,
        clock=clock_for(args.threads),
    )
    seconds = {name: value / len(groups) for name, value in seconds.items()}
    print(f"training step, 2 048 tokens, {args.threads} thread(s), median of {args.rounds}")
    print_table(seconds, "a step")
    print(f"ratio ours / nn.Transformer: {seconds['this package'] / seconds['nn.Transformer']:.2f}")


if __name__ == "__main__":
    main()
