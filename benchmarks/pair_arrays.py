"""Memory of a million sentence pairs, and the time of an epoch's batches, as lists and as arrays.

python benchmarks/pair_arrays.py [--pairs 1000000]
"""

import argparse
import time
import tracemalloc
from collections.abc import Iterator

import numpy as np

from transformer.data.batching import Pair, PairArrays, token_batches


def random_pairs(number: int) -> Iterator[Pair]:
    """25 tokens a side on average."""
    random = np.random.default_rng(0)
    for _ in range(number):
        source_len, target_len = random.integers(5, 46, 2)
        source, target = (random.integers(4, 37_000, n).tolist() for n in (source_len, target_len))
        yield source, target


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    number = parser.parse_args().pairs
    held, seconds = [], []
    for name, kind in (("lists", list), ("arrays", PairArrays)):
        tracemalloc.start()
        pairs = kind(random_pairs(number))
        held.append(tracemalloc.get_traced_memory()[0] / 1e6)
        tracemalloc.stop()
        began = time.process_time()
        token_batches(pairs, max_tokens=25_000, seed=0, vocab_size=37_000)
        seconds.append(time.process_time() - began)
        print(f"{name}: {number:,} pairs, {held[-1]:.0f} MB, {seconds[-1]:.2f} s an epoch")
    print(f"ratio lists / arrays: {held[0] / held[1]:.1f} in memory, {seconds[0] / seconds[1]:.1f}")


if __name__ == "__main__":
    main()
