"""The checks of chapter 11 on batches: cutting, padding's share, grouping by tokens (§5.1)."""

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any

from transformer.config import EOS_ID
from walkthrough.checking.base import Arguments, Case, Check, Mistake, Symptom, fixed

Batches = Sequence[Sequence[int]]
Group = Callable[[Sequence[int], int], list[list[int]]]


# Exercise: cut a sentence ------------------------------------------------------------------------


def _cut(ids: list[int], max_len: int) -> list[int]:
    return [*ids[: max_len - 1], EOS_ID]


def _cut_case(label: str, n_tokens: int, max_len: int) -> Case:
    ids = [10 + 3 * number for number in range(n_tokens)]
    return fixed(label, ids, max_len)


cut = Check(
    name="cut_row",
    reference=_cut,
    cases=[
        _cut_case("a sentence that is too long", 9, 6),
        _cut_case("a sentence that fits without its end token and not with it", 6, 6),
        _cut_case("a sentence that fits exactly", 5, 6),
        _cut_case("a short sentence", 2, 6),
    ],
    mistakes=[
        Mistake(
            "end token cut off",
            lambda ids, max_len: [*ids, EOS_ID][:max_len],
            "you add the end token and then cut, so long sentences lose it. Cut first: leave room "
            "for one more token.",
        ),
        Mistake(
            "one too long",
            lambda ids, max_len: [*ids[:max_len], EOS_ID],
            "long sentences come out one token too long: `max_len` counts the end token too.",
        ),
        Mistake(
            "one too short",
            lambda ids, max_len: [*ids[: max_len - 2], EOS_ID],
            "one word too many is cut off. The only token that you add here is the end token.",
        ),
        Mistake(
            "the front cut off",
            lambda ids, max_len: [*ids, EOS_ID][-max_len:],
            "this cuts the *beginning* away. Here the beginning stays, and what comes after "
            "`max_len` goes.",
        ),
        Mistake(
            "no end token",
            lambda ids, max_len: ids[:max_len],
            "there is no end token. Every source sentence ends with one, and a decoder that is "
            "never asked for it never learns to stop.",
        ),
        Mistake(
            "last token replaced",
            lambda ids, max_len: [*ids[:max_len][:-1], EOS_ID],
            "the last token is always replaced by the end token, in short sentences too. A "
            "sentence that fits keeps all its words.",
        ),
        Mistake(
            "filled up",
            lambda ids, max_len: _cut(ids, max_len) + [0] * (max_len - len(ids) - 1),
            "right, and then filled with padding. Padding depends on the batch, so it comes "
            "later. Return the tokens alone.",
        ),
    ],
)


# Exercise: the share of padding ------------------------------------------------------------------


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


def _share_of_sentences(lengths: Sequence[int], batches: Batches) -> float:
    short = [lengths[i] < max(lengths[j] for j in batch) for batch in batches for i in batch]
    return sum(short) / len(short)


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
            "a number of positions",
            lambda lengths, batches: _all_positions(lengths, batches) - _tokens(lengths, batches),
            "this is the number of padding positions. Divide it by the number of all positions.",
        ),
        Mistake(
            "per cent",
            lambda lengths, batches: 100 * _padding_share(lengths, batches),
            "the share in per cent. Return a number between 0 and 1.",
        ),
        Mistake(
            "share of sentences",
            _share_of_sentences,
            "this is the share of *sentences* that have padding. Count positions.",
        ),
        Mistake(
            "indices not used",
            _places_taken_for_indices,
            "the batches have the right sizes, but hold the sentences in the order of the list. "
            "`batch` holds indices: the length of sentence `i` is `lengths[i]`.",
        ),
    ],
)


# Exercise: batches by tokens ---------------------------------------------------------------------


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
