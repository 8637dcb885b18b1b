"""One set of translations, scored in many ways that all print "BLEU" (§6.1)."""

from collections.abc import Callable, Sequence
from statistics import fmean

import torch

from transformer.analysis.bleu import corpus_bleu, score
from transformer.config import EOS_ID
from transformer.data.batching import collate
from transformer.data.codec import TextCodec
from transformer.model import Transformer

Lines = Sequence[str]
Spell = Callable[[str], Sequence[object]]
AGREED = "agreed: sacrebleu, 13a, case kept"


def bleu_of_pieces(hypotheses: Lines, references: Lines, spell: Spell) -> float:
    """Return BLEU over whatever `spell` cuts a line into: letters, sub-words, ids."""
    return corpus_bleu(
        [[str(piece) for piece in spell(line)] for line in hypotheses],
        [[str(piece) for piece in spell(line)] for line in references],
    )


def padded_ids(spell: Spell, length: int, padding: int = 0) -> Spell:
    """Return a way to spell that fills every row up to `length`, as a batch of ids is."""

    def spelled(line: str) -> list[object]:
        ids = list(spell(line))[:length]
        return [*ids, *[padding] * (length - len(ids))]

    return spelled


def mean_of_sentences(hypotheses: Lines, references: Lines) -> float:
    """Return the mean of the BLEU of single sentences."""
    return fmean(
        score([hypothesis], [reference]).bleu
        for hypothesis, reference in zip(hypotheses, references, strict=True)
    )


def mean_of_batches(hypotheses: Lines, references: Lines, *, size: int) -> float:
    """Return the mean of the BLEU of batches, the last of which may be smaller."""
    starts = range(0, len(hypotheses), size)
    return fmean(
        score(hypotheses[start : start + size], references[start : start + size]).bleu
        for start in starts
    )


def lower(lines: Lines) -> list[str]:
    """Return lines without capital letters."""
    return [line.lower() for line in lines]


@torch.no_grad()
def told_the_truth(
    model: Transformer, codec: TextCodec, sources: Lines, references: Lines
) -> list[str]:
    """Return the likeliest word at each place, with the reference's words before it as input.

    That is a by-product of the validation loss, not a translation: every mistake is put right
    before the next word, and the length is the reference's.
    """
    pairs = [
        (codec.encode(source), codec.encode_target(reference))
        for source, reference in zip(sources, references, strict=True)
    ]
    batch = collate(pairs)
    likeliest = model.eval()(batch.source, batch.target_in).argmax(-1).tolist()
    lines = []
    for row, (_, target) in zip(likeliest, pairs, strict=True):
        words = row[: len(target)]
        lines.append(codec.decode(words[: words.index(EOS_ID)] if EOS_ID in words else words))
    return lines


def counted(hypotheses: Lines, references: Lines, spell: Spell) -> dict[str, float]:
    """Return one set of translations in many ways, the agreed one first; `spell` cuts sub-words."""
    longest = max(len(spell(line)) for line in [*hypotheses, *references])
    padded = padded_ids(spell, longest)
    small = lower(hypotheses)
    return {
        AGREED: score(hypotheses, references).bleu,
        "lower-cased on both sides": score(small, lower(references)).bleu,
        "lower-cased outputs, cased references": score(small, references).bleu,
        "mean over sentences": mean_of_sentences(hypotheses, references),
        "mean over batches of 7": mean_of_batches(hypotheses, references, size=7),
        "on letters": bleu_of_pieces(hypotheses, references, list),
        "on subwords": bleu_of_pieces(hypotheses, references, spell),
        "on ids, padding included": bleu_of_pieces(hypotheses, references, padded),
    }
