"""Greedy decoding of 100 sentences for 40 steps: cached, against nn.Transformer run anew each step.

Anew in two ways: calling the model, which computes the logits of every position, and with only the
last position multiplied by the vocabulary. Same weights; that both decode the same is checked.

    python benchmarks/greedy_decode.py [--threads 1] [--rounds 3]
"""

import argparse

import torch
from peers import TINY, TorchTransformer, clock_for, compare, print_table

from transformer.config import EOS_ID
from transformer.inference import greedy_decode
from transformer.model import Transformer


class NeverEnding(Transformer):
    """Decodes to the limit, so that both do the same number of steps."""

    def project(self, states: torch.Tensor) -> torch.Tensor:
        """Logits without a chance for the end token."""
        logits = super().project(states)
        logits[..., EOS_ID] = float("-inf")
        return logits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--steps", type=int, default=40)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    source = torch.randint(4, TINY.vocab_size, (args.batch, 15))
    ours, peer = NeverEnding(TINY), TorchTransformer(TINY)
    peer.copy_weights(ours)
    few = slice(4)
    decoded = greedy_decode(ours, source[few], max_len=args.steps + 1)
    for only_last in (True, False):
        assert decoded == peer.greedy(source[few], args.steps, only_last=only_last).tolist()
    seconds = compare(
        {
            "this package, cached": lambda: greedy_decode(ours, source, max_len=args.steps + 1),
            "nn.Transformer, anew": lambda: peer.greedy(source, args.steps, only_last=False),
            "the same, last logits only": lambda: peer.greedy(source, args.steps, only_last=True),
        },
        rounds=args.rounds,
        clock=clock_for(args.threads),
    )
    print(f"greedy decoding, batch {args.batch}, {args.steps} steps, {args.threads} thread(s)")
    print_table(seconds, "a batch")
    cached, anew, only_last = seconds.values()
    print(f"ratio nn.Transformer / ours: {anew / cached:.1f}, last logits only: ", end="")
    print(f"{only_last / cached:.1f}")


if __name__ == "__main__":
    main()
