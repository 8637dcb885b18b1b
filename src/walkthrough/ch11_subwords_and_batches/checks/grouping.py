"""The check of chapter 11 on batches by tokens (§5.1)."""

from collections.abc import Callable, Sequence
from typing import Any

from walkthrough.checking import Check, Mistake, fixed

Group = Callable[[Sequence[int], int], list[list[int]]]


def _grouped(
    key: Callable[[Sequence[int], int], Any] = lambda lengths, index: lengths[index],
    fits: Callable[[int, int, int, int], bool] = lambda n, top, _sum, most: n * top <= most,
) -> Group:
    """Sort sentences by `key`, and fill batches while `fits(size, longest, sum, max_tokens)`."""

    def group(lengths: Sequence[int], max_tokens: int) -> list[list[int]]:
        batches: list[list[int]] = [[]]
        for index in sorted(range(len(lengths)), key=lambda index: key(lengths, index)):
            tried = [lengths[i] for i in (*batches[-1], index)]
            if batches[-1] and not fits(len(tried), max(tried), sum(tried), max_tokens):
                batches.append([])
            batches[-1].append(index)
        return batches

    return group


_group = _grouped()


def _one_too_many(lengths: Sequence[int], max_tokens: int) -> list[list[int]]:
    batches: list[list[int]] = [[]]
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batches[-1] and len(batches[-1]) * max(lengths[i] for i in batches[-1]) >= max_tokens:
            batches.append([])
        batches[-1].append(index)
    return batches


def _full_sentence_lost(lengths: Sequence[int], max_tokens: int) -> list[list[int]]:
    batches: list[list[int]] = [[]]
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if (len(batches[-1]) + 1) * lengths[index] > max_tokens:
            batches.append([])
        else:
            batches[-1].append(index)
    return batches


group = Check(
    name="group_by_tokens",
    reference=_group,
    cases=[
        fixed("36 sentences, many of equal length", [7, 3, 12, 4, 3, 8, 11, 5, 6] * 4, 24),
        fixed("batches that fill up exactly", [4, 4, 4, 6, 6, 2], 12),
        fixed("a sentence as long as a batch", [10, 2, 3], 10),
    ],
    mistakes=[
        Mistake(
            "padding not counted",
            _grouped(fits=lambda n, top, total, most: total <= most),
            "this adds up the sentences' own lengths. Padding takes room too: a batch of `n` "
            "sentences has `n` times its longest sentence positions.",
        ),
        Mistake(
            "not sorted",
            _grouped(key=lambda lengths, index: index),
            "the limit holds, but the sentences come in the order of the list. Sort their "
            "indices by length first.",
        ),
        Mistake(
            "one too many",
            _one_too_many,
            "you look at the limit before you count the new sentence in, so a batch can be too "
            "large by one sentence. Ask what the batch would be *with* it.",
        ),
        Mistake(
            "a full batch refused",
            _grouped(fits=lambda n, top, _sum, most: n * top < most),
            "a batch may take exactly `max_tokens` positions: the limit itself is allowed.",
        ),
        Mistake(
            "last batch lost",
            lambda lengths, max_tokens: _group(lengths, max_tokens)[:-1],
            "the last batch is missing. After the loop there is still one in hand.",
        ),
        Mistake(
            "full sentence lost",
            _full_sentence_lost,
            "the sentence that does not fit any more is lost: it closes the batch and joins none. "
            "It is the first of the next one.",
        ),
        Mistake(
            "places for indices",
            lambda lengths, max_tokens: _group(sorted(lengths), max_tokens),
            "these are places in the *sorted* list. Sort the indices, and keep them.",
        ),
        Mistake(
            "lengths for indices",
            lambda lengths, max_tokens: [
                [lengths[i] for i in batch] for batch in _group(lengths, max_tokens)
            ],
            "right groups, but you return the *lengths*. Return the indices, so that the "
            "sentences can be found.",
        ),
    ],
)
