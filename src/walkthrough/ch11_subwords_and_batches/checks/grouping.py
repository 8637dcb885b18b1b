"""The check of chapter 11 on batches by tokens (§5.1)."""

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any

from walkthrough.checking.base import Arguments, Check, Mistake, Symptom, fixed

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


def _one_list_for_all(lengths: Sequence[int], max_tokens: int) -> list[list[int]]:
    made = _group(lengths, max_tokens)
    return [made[-1] for _ in made]


def _longest_before(lengths: Sequence[int], max_tokens: int) -> list[list[int]]:
    batches: list[list[int]] = [[]]
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batches[-1] and (len(batches[-1]) + 1) * lengths[batches[-1][-1]] > max_tokens:
            batches.append([])
        batches[-1].append(index)
    return batches


def _in_chunks(lengths: Sequence[int], size: int) -> list[list[int]]:
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    return [order[start : start + size] for start in range(0, len(order), size)]


def _too_large(result: list[list[int]], expected: list[list[int]], given: Arguments) -> bool:
    lengths, max_tokens = given.positional
    return any(len(b) * max(lengths[i] for i in b) > max_tokens for b in result)


def _loses_sentences(result: list[list[int]], expected: list[list[int]], given: Arguments) -> bool:
    held = [index for batch in result for index in batch]
    are_indices = all(isinstance(index, Integral) for index in held)
    return are_indices and sorted(held) != list(range(len(given.positional[0])))


group = Check(
    name="group_by_tokens",
    reference=_group,
    cases=[
        fixed("nine sentences, 24 tokens", [7, 3, 12, 4, 3, 8, 11, 5, 6], 24),
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
            "long to short",
            _grouped(key=lambda lengths, index: -lengths[index]),
            "these batches run from long to short. Nothing is wrong with that, but the exercise "
            "asks for short to long, so that it can compare.",
        ),
        Mistake(
            "later first",
            _grouped(key=lambda lengths, index: (lengths[index], -index)),
            "of sentences of equal length, the later one comes first here. The exercise asks for "
            "the order of the list, so that it can compare.",
        ),
        Mistake(
            "never full",
            _grouped(fits=lambda n, top, _sum, most: n * top < most),
            "a batch may hold `max_tokens` positions. You stop one earlier (`<` where `<=` should "
            "be).",
        ),
        Mistake(
            "one too many",
            _one_too_many,
            "you look at the limit before you count the new sentence in, so a batch can be too "
            "large by one sentence. Ask what the batch would be *with* it.",
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
            "one list for all",
            _one_list_for_all,
            "all batches are one and the same list. `clear` empties the batch that you have "
            "stored too: begin a new list, `batch = []`.",
        ),
        Mistake(
            "places for indices",
            lambda lengths, max_tokens: _group(sorted(lengths), max_tokens),
            "these are places in the *sorted* list. Sort the indices, and keep them.",
        ),
        Mistake(
            "the first of that length",
            lambda lengths, max_tokens: [
                [lengths.index(lengths[i]) for i in batch] for batch in _group(lengths, max_tokens)
            ],
            "`index` finds the *first* sentence of a length, so of two equal ones it takes the "
            "same twice. Sort the indices in place of the lengths.",
        ),
        Mistake(
            "longest before the new one",
            _longest_before,
            "the batch is measured by its longest sentence *before* the new one. The new sentence "
            "is the longest.",
        ),
        Mistake(
            "a fixed number",
            lambda lengths, max_tokens: _in_chunks(lengths, max_tokens // max(lengths)),
            "every batch has the same number of sentences, as many as the longest one allows. "
            "Short sentences can be more.",
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
    symptoms=[
        Symptom(
            "sentences lost or repeated",
            _loses_sentences,
            "some sentence is missing or stands in two batches. Every index belongs in exactly "
            "one.",
        ),
        Symptom(
            "too large",
            _too_large,
            "a batch is larger than `max_tokens`: its number of sentences times its longest "
            "sentence.",
        ),
    ],
)
