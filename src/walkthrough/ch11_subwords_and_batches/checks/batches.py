"""The checks of chapter 11 on batches: their layout, padding's share, grouping (§5.1)."""

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any

import torch
from torch import Tensor

from transformer.config import BOS_ID, EOS_ID, PAD_ID
from walkthrough.checking.base import Arguments, Case, Check, Mistake, Symptom, fixed

Batches = Sequence[Sequence[int]]
Group = Callable[[Sequence[int], int], list[list[int]]]


# Exercise: lay out a batch -----------------------------------------------------------------------

Pair = tuple[list[int], list[int]]
Keep = Callable[[list[Pair], int], list[Pair]]
Laid = tuple[Tensor, Tensor, Tensor]


def _those_that_fit(
    fits: Callable[[int, int, int], bool] = lambda source, target, most: max(source, target) < most,
) -> Keep:
    return lambda pairs, most: [pair for pair in pairs if fits(len(pair[0]), len(pair[1]), most)]


def _layer(
    *,
    keep: Keep = _those_that_fit(),  # noqa: B008  # a pure function
    source_marks: tuple[list[int], list[int]] = ([], [EOS_ID]),
    reads_marks: tuple[list[int], list[int]] = ([BOS_ID], []),
    gold_marks: tuple[list[int], list[int]] = ([], [EOS_ID]),
    padding: int = PAD_ID,
    front: bool = False,
    width: str = "own",
    behind: Sequence[int] = (),
    order: Callable[[Pair], int] | None = None,
) -> Callable[[list[Pair], int], Laid]:
    """Lay out the pairs that fit, with one thing changed."""

    def lay(pairs: list[Pair], max_len: int) -> Laid:
        kept = keep(pairs, max_len)
        kept = sorted(kept, key=order) if order else kept
        sides = ((source_marks, 0), (reads_marks, 1), (gold_marks, 1))
        rows = [[[*marks[0], *pair[side], *marks[1]] for pair in kept] for marks, side in sides]
        own = [max(map(len, some)) for some in rows]
        widths = {"own": own, "limit": [max_len] * 3, "all": [max(own)] * 3}[width]
        made = [
            torch.tensor([_filled(row, wide) for row in some])
            for some, wide in zip(rows, widths, strict=True)
        ]
        return made[0], made[1], made[2]

    def _filled(row: list[int], wide: int) -> list[int]:
        fill = [padding] * (wide - len(row))
        if row[-1] in behind:
            return [*row[:-1], *fill, row[-1]]
        return [*fill, *row] if front else [*row, *fill]

    return lay


def _laid(name: str, say: str, **changes: Any) -> Mistake:
    return Mistake(name, _layer(**changes), say, changes)


def _pairs(label: str, lengths: Sequence[tuple[int, int]], max_len: int) -> Case:
    """Pairs of these lengths, without marks, and a limit."""
    pairs = [
        ([10 * n + k for k in range(4, 4 + source)], [500 + 10 * n + k for k in range(target)])
        for n, (source, target) in enumerate(lengths, start=1)
    ]
    return fixed(label, pairs, max_len)


_laid_out = _layer()

lay_out = Check(
    name="lay_out",
    reference=_laid_out,
    cases=[
        _pairs("three pairs of different lengths", [(4, 3), (2, 5), (3, 1)], 9),
        _pairs("one pair", [(3, 2)], 9),
        _pairs("a pair that fits exactly, end token included", [(2, 3), (5, 5)], 6),
        _pairs("a source that is too long with its end token", [(6, 2), (3, 4), (2, 2)], 6),
        _pairs("a target that is too long with its end token", [(3, 4), (2, 6), (2, 2)], 6),
        _pairs("pairs that are far too long on one side", [(3, 4), (12, 4), (2, 5), (2, 11)], 7),
        _pairs("a pair that is far too long on both sides", [(3, 4), (12, 11)], 7),
    ],
    build=_layer,
    mistakes=[
        _laid(
            "end token not counted",
            "a row may be `max_len` tokens long *with* its end token. You compare the length "
            "without it, so a pair slips in that is one too long.",
            keep=_those_that_fit(lambda s, t, most: max(s, t) <= most),
        ),
        _laid(
            "one too strict",
            "a pair that fits exactly, end token included, is left out (`<` where `<=` should be).",
            keep=_those_that_fit(lambda s, t, most: max(s, t) + 1 < most),
        ),
        _laid(
            "either side fits",
            "a pair is kept if *one* of its sides fits. Both must.",
            keep=_those_that_fit(lambda s, t, most: min(s, t) < most),
        ),
        _laid(
            "source alone",
            "only the source is measured. A target can be too long as well.",
            keep=_those_that_fit(lambda s, t, most: s < most),
        ),
        _laid(
            "target alone",
            "only the target is measured. A source can be too long as well.",
            keep=_those_that_fit(lambda s, t, most: t < most),
        ),
        _laid(
            "both sides together",
            "the lengths of both sides are added. The limit holds for each side alone.",
            keep=_those_that_fit(lambda s, t, most: s + t + 2 <= most),
        ),
        _laid(
            "nothing left out",
            "no pair is left out. One whose source or target is longer than `max_len`, end token "
            "included, does not belong to the batch.",
            keep=lambda pairs, most: pairs,
        ),
        _laid(
            "cut",
            "pairs that are too long are cut. Leave them out: a cut source and a cut target need "
            "not say the same.",
            keep=lambda pairs, most: [(s[: most - 1], t[: most - 1]) for s, t in pairs],
        ),
        _laid(
            "padded to the limit",
            "all rows are padded to `max_len`. A batch is as wide as its longest row.",
            width="limit",
        ),
        _laid(
            "one width for all",
            "all three tensors have one width. Source and target are padded each to their own "
            "longest row.",
            width="all",
        ),
        _laid(
            "padding in front",
            "the padding stands in front of the tokens, so their positions move. It comes last.",
            front=True,
        ),
        _laid(
            "padded with the end token",
            "the rows are filled up with the end token. Padding has an id of its own, `PAD_ID`.",
            padding=EOS_ID,
        ),
        _laid(
            "end token last",
            "the end token stands after the padding. It follows the last word.",
            behind=[EOS_ID],
        ),
        _laid(
            "last token last",
            "the last token of a row stands behind the padding. Padding comes after everything.",
            behind=range(1000),
        ),
        _laid(
            "source without end",
            "the source has no end token. It is read with one.",
            source_marks=([], []),
        ),
        _laid(
            "source with start",
            "the source begins with a start token. Only what the decoder reads does.",
            source_marks=([BOS_ID], [EOS_ID]),
        ),
        _laid(
            "gold without end",
            "the gold has no end token, so the model is never asked to stop. It is also one token "
            "shorter than what is read.",
            gold_marks=([], []),
        ),
        _laid(
            "gold with start",
            "the gold begins with a start token: then every place is asked for the token that it "
            "reads. Nobody predicts the start.",
            gold_marks=([BOS_ID], [EOS_ID]),
        ),
        _laid(
            "reads with end",
            "the decoder reads the end token too. After the end nothing is predicted, so nothing "
            "is read.",
            reads_marks=([BOS_ID], [EOS_ID]),
        ),
        _laid(
            "reads without start",
            "the decoder reads no start token. Without one there is nothing to predict the first "
            "word from.",
            reads_marks=([], []),
        ),
        _laid(
            "not shifted",
            "the decoder reads the gold itself, unshifted. It reads a start token and the target, "
            "without the end.",
            reads_marks=([], [EOS_ID]),
        ),
        _laid(
            "marks exchanged",
            "start and end token are exchanged: `BOS_ID` starts, `EOS_ID` ends.",
            source_marks=([], [BOS_ID]),
            reads_marks=([EOS_ID], []),
            gold_marks=([], [BOS_ID]),
        ),
        Mistake(
            "last word not read",
            lambda pairs, most: (
                _laid_out(pairs, most)[0],
                _layer(keep=lambda _, __: [(s, t[:-1]) for s, t in _those_that_fit()(pairs, most)])(
                    pairs, most
                )[1],
                _laid_out(pairs, most)[2],
            ),
            "the last word of each target is cut from what the decoder reads. The targets come "
            "without marks here, so there is nothing to take away.",
        ),
        Mistake(
            "reads and gold exchanged",
            lambda pairs, most: tuple(_laid_out(pairs, most)[k] for k in (0, 2, 1)),
            "what the decoder reads and the gold are exchanged. Return source, reads, gold.",
        ),
        Mistake(
            "source and target exchanged",
            lambda pairs, most: _laid_out([(target, source) for source, target in pairs], most),
            "source and target are exchanged: each pair has the source first.",
        ),
        Mistake(
            "transposed",
            lambda pairs, most: tuple(tensor.T for tensor in _laid_out(pairs, most)),
            "rows and columns are exchanged. A row is a sentence.",
        ),
        _laid(
            "sorted by the target",
            "the pairs come in another order (by length). Keep the order of the list.",
            order=lambda pair: len(pair[1]),
        ),
        _laid(
            "sorted by the source",
            "the pairs come in order of the source's length. Keep the order of the list.",
            order=lambda pair: len(pair[0]),
        ),
    ],
    symptoms=[
        Symptom(
            "no three",
            lambda result, expected, given: len(result) != 3 or isinstance(result, Tensor),
            "three tensors are expected: the source, what the decoder reads, and the gold.",
        ),
        Symptom(
            "column of padding",
            lambda result, expected, given: any(
                torch.as_tensor(made).shape[1] > right.shape[1]
                for made, right in zip(result, expected, strict=True)
            ),
            "a tensor is wider than its longest row: its last column is padding in every row, or "
            "a row has a token too many.",
        ),
    ],
    right="`lay_out` is right: padded, shifted, and nothing cut",
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
            "padding a sentence",
            lambda lengths, batches: (
                (_all_positions(lengths, batches) - _tokens(lengths, batches)) / len(lengths)
            ),
            "padding is divided by the number of *sentences*. Divide it by the number of all "
            "positions.",
        ),
        Mistake(
            "one more for the end",
            lambda lengths, batches: (
                1
                - _tokens(lengths, batches)
                / _all_positions(lengths, batches, lambda own: max(own) + 1)
            ),
            "every batch is one position too wide. The lengths are those of the rows as they "
            "stand: no end token has to be added.",
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
