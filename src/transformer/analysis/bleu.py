"""BLEU by hand, and the scores to report, by sacrebleu (Section 6.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

from sacrebleu.metrics import BLEU, CHRF

_MAX_ORDER = 4

TOKENIZERS = tuple(sorted(BLEU.TOKENIZERS))
"""What sacrebleu can split lines with; some need a package more."""


def ngram_counts(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """Count the runs of n neighbouring tokens."""
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def clipped_matches(hypothesis: Sequence[str], reference: Sequence[str], n: int) -> int:
    """Count the n-grams that both share; each counts at most as often as the reference has it.

    Without this limit "the the the" would match "the cat" three times.
    """
    return (ngram_counts(hypothesis, n) & ngram_counts(reference, n)).total()


def brevity_penalty(hypothesis_len: int, reference_len: int) -> float:
    """Return 1, or less if the whole translation is shorter than the whole reference."""
    if hypothesis_len == 0:
        return 0.0
    return min(1.0, exp(1 - reference_len / hypothesis_len))


def corpus_bleu(hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> float:
    """Return BLEU in percent of tokenised sentences, one reference each (Papineni et al. 2002).

    Counts are summed over the corpus before they are divided. An order without any match counts
    as half a match the first time, a quarter the second, … as sacrebleu's default has it. Without
    any match at all, or any translation of four tokens, BLEU is 0.

    Raises:
        ValueError: for no sentences, or different numbers of hypotheses and references.
        TypeError: for a string where a list of tokens is needed.
    """
    _check(hypotheses, references)
    if any(isinstance(sentence, str) for sentence in (*hypotheses, *references)):
        raise TypeError("sentences must be lists of tokens, got a string: split it first")
    pairs = list(zip(hypotheses, references, strict=True))
    log_precision, missing_orders = 0.0, 0
    for n in range(1, _MAX_ORDER + 1):
        matches = sum(clipped_matches(h, r, n) for h, r in pairs)
        total = sum(max(len(h) - n + 1, 0) for h, _ in pairs)
        if total == 0 or (n == 1 and matches == 0):
            return 0.0
        if matches == 0:
            missing_orders += 1
        log_precision += log((matches or 0.5**missing_orders) / total) / _MAX_ORDER
    penalty = brevity_penalty(sum(map(len, hypotheses)), sum(map(len, references)))
    return 100 * penalty * exp(log_precision)


@dataclass(frozen=True, kw_only=True)
class Scores:
    """BLEU and chrF in percent, with the signatures that say how they were computed."""

    bleu: float
    chrf: float
    precisions: tuple[float, float, float, float]
    brevity_penalty: float
    hypothesis_len: int
    reference_len: int
    bleu_signature: str
    chrf_signature: str
    four_grams: int

    def __str__(self) -> str:
        precisions = "/".join(f"{precision:.1f}" for precision in self.precisions)
        return (
            f"BLEU {self.bleu:.2f} ({precisions}, BP {self.brevity_penalty:.3f}, "
            f"hypothesis {self.hypothesis_len}, reference {self.reference_len} tokens; "
            f"{self.bleu_signature}) · chrF {self.chrf:.2f} ({self.chrf_signature})"
        )


def score(hypotheses: Sequence[str], references: Sequence[str], *, tokenize: str = "13a") -> Scores:
    """Score lines of text with sacrebleu (Post 2018), one reference each.

    `tokenize` is "none" for lines whose tokens are already separated by spaces, "13a" for text as
    people write it. Scores with different signatures cannot be compared. Without `four_grams`, runs
    of four tokens in the hypotheses, BLEU is 0 whatever they say.

    Raises:
        ValueError: for no sentences, different numbers of them, or a tokeniser that sacrebleu
            does not have.
        ModuleNotFoundError: a package that the tokeniser needs is not installed.
    """
    _check(hypotheses, references)
    bleu, chrf = bleu_with(tokenize), CHRF()
    result = bleu.corpus_score(list(hypotheses), [list(references)])
    return Scores(
        bleu=result.score,
        chrf=chrf.corpus_score(list(hypotheses), [list(references)]).score,
        precisions=tuple(result.precisions),
        brevity_penalty=result.bp,
        hypothesis_len=result.sys_len,
        reference_len=result.ref_len,
        bleu_signature=str(bleu.get_signature()),
        chrf_signature=str(chrf.get_signature()),
        four_grams=result.totals[-1],
    )


def bleu_with(tokenize: str) -> BLEU:
    """Return sacrebleu's metric with one of its tokenisers; raises as `score` does."""
    if tokenize not in TOKENIZERS:
        raise ValueError(f"tokenize must be one of {', '.join(TOKENIZERS)}, got {tokenize!r}")
    try:
        # Forced: sacrebleu otherwise warns about lines that end in " .", as tokenised ones should.
        return BLEU(tokenize=tokenize, force=tokenize == "none")
    except (ImportError, RuntimeError) as error:
        extra = tokenize.partition("-")[0]
        packages = {"ja": "'sacrebleu[ja]'", "ko": "'sacrebleu[ko]'"}.get(extra, "sentencepiece")
        raise ModuleNotFoundError(
            f"sacrebleu's tokenizer {tokenize!r} needs a package more: pip install {packages}"
        ) from error


def _check(hypotheses: Sequence[object], references: Sequence[object]) -> None:
    if len(hypotheses) != len(references):
        raise ValueError(
            "there must be one reference for each hypothesis, got "
            f"{len(hypotheses)} hypotheses and {len(references)} references"
        )
    if not hypotheses:
        raise ValueError("BLEU needs at least 1 sentence, got 0")
