"""The check of chapter 11 on the share of padding in batches (§5.1)."""

from collections.abc import Callable, Sequence

from walkthrough.checking import Check, Mistake, fixed

Batches = Sequence[Sequence[int]]


def _all_positions(
    lengths: Sequence[int], batches: Batches, width: Callable[[list[int]], int] = max
) -> int:
    return sum(len(batch) * width([lengths[i] for i in batch]) for batch in batches)


def _tokens(lengths: Sequence[int], batches: Batches) -> int:
    return sum(lengths[i] for batch in batches for i in batch)


def _padding_share(
    lengths: Sequence[int], batches: Batches, width: Callable[[list[int]], int] = max
) -> float:
    return 1 - _tokens(lengths, batches) / _all_positions(lengths, batches, width)


def _mean_over_batches(lengths: Sequence[int], batches: Batches) -> float:
    return sum(_padding_share(lengths, [batch]) for batch in batches) / len(batches)


def _places_taken_for_indices(lengths: Sequence[int], batches: Batches) -> float:
    regrouped, start = [], 0
    for batch in batches:
        regrouped.append(range(start, start + len(batch)))
        start += len(batch)
    return _padding_share(lengths, regrouped)


padding_share = Check(
    name="share_of_padding",
    reference=_padding_share,
    cases=[
        fixed("two batches of different size", [3, 9, 4, 5, 8, 2], [[0, 3, 1, 2], [5, 4]]),
        fixed("batches out of order", [12, 3, 7, 7, 4], [[4, 1], [3, 0, 2]]),
        fixed("batches without padding", [5, 2, 5, 2], [[0, 2], [1, 3]]),
        fixed("batches that leave sentences out", [4, 9, 6, 3, 8], [[0, 2], [3]]),
    ],
    mistakes=[
        Mistake(
            "all sentences counted",
            lambda lengths, batches: 1 - sum(lengths) / _all_positions(lengths, batches, max),
            "you count the tokens of all sentences. Batches may leave some out: count those that "
            "stand in a batch.",
        ),
        Mistake(
            "the share of tokens",
            lambda lengths, batches: 1 - _padding_share(lengths, batches),
            "this is the share of real tokens. Padding is the rest.",
        ),
        Mistake(
            "mean over batches",
            _mean_over_batches,
            "this is the mean of the batches' shares. A small batch then counts as much as a "
            "large one. Add up all positions first and divide once.",
        ),
        Mistake(
            "padding per token",
            lambda lengths, batches: (
                _all_positions(lengths, batches) / _tokens(lengths, batches) - 1
            ),
            "this is padding divided by *tokens*. The share divides by all positions, padding "
            "included.",
        ),
        Mistake(
            "padded to the longest of all",
            lambda lengths, batches: _padding_share(lengths, batches, lambda own: max(lengths)),
            "every batch is padded to the longest sentence of *all* batches here. A batch is as "
            "wide as its own longest sentence.",
        ),
        Mistake(
            "the last taken for the longest",
            lambda lengths, batches: _padding_share(lengths, batches, lambda own: own[-1]),
            "every batch is taken to be as wide as its last sentence. That holds when each batch "
            "is sorted; here none need be. Take the longest, `max`.",
        ),
        Mistake(
            "one row a batch",
            lambda lengths, batches: (
                1
                - _tokens(lengths, batches)
                / sum(max(lengths[i] for i in batch) for batch in batches)
            ),
            "a batch is counted with the positions of one row. It has as many rows as sentences.",
        ),
        Mistake(
            "indices not used",
            _places_taken_for_indices,
            "the batches have the right sizes, but hold the sentences in the order of the list. "
            "`batch` holds indices: the length of sentence `i` is `lengths[i]`.",
        ),
    ],
)
