"""Figures that others printed: Table 2 of the paper, and a Transformer on Multi30k to compare with.

Checked against version 7 of the paper (arXiv:1706.03762v7) and against Wu et al. 2021.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from transformer.analysis.bleu import brevity_penalty

Kind = Literal["earlier, one model", "earlier, ensemble", "Transformer"]
Pair = Literal["English–German", "English–French"]
SINGLE: Kind = "earlier, one model"
ENSEMBLE: Kind = "earlier, ensemble"
TRANSFORMER: Kind = "Transformer"
GERMAN, FRENCH = "English–German", "English–French"


@dataclass(frozen=True, kw_only=True)
class System:
    """One row of Table 2: BLEU on newstest2014 and training FLOPs, by language pair."""

    name: str
    kind: Kind
    bleu: Mapping[str, float]
    flops: Mapping[str, float]


def _system(
    name: str,
    kind: Kind,
    german: tuple[float | None, float | None],
    french: tuple[float | None, float | None],
) -> System:
    columns = {GERMAN: german, FRENCH: french}
    return System(
        name=name,
        kind=kind,
        bleu={pair: bleu for pair, (bleu, _) in columns.items() if bleu is not None},
        flops={pair: flops for pair, (_, flops) in columns.items() if flops is not None},
    )


TABLE_2 = (
    _system("ByteNet", SINGLE, (23.75, None), (None, None)),
    _system("Deep-Att + PosUnk", SINGLE, (None, None), (39.2, 1.0e20)),
    _system("GNMT + RL", SINGLE, (24.6, 2.3e19), (39.92, 1.4e20)),
    _system("ConvS2S", SINGLE, (25.16, 9.6e18), (40.46, 1.5e20)),
    _system("MoE", SINGLE, (26.03, 2.0e19), (40.56, 1.2e20)),
    _system("Deep-Att + PosUnk ensemble", ENSEMBLE, (None, None), (40.4, 8.0e20)),
    _system("GNMT + RL ensemble", ENSEMBLE, (26.30, 1.8e20), (41.16, 1.1e21)),
    _system("ConvS2S ensemble", ENSEMBLE, (26.36, 7.7e19), (41.29, 1.2e21)),
    _system("Transformer (base)", TRANSFORMER, (27.3, 3.3e18), (38.1, 3.3e18)),
    _system("Transformer (big)", TRANSFORMER, (28.4, 2.3e19), (41.8, 2.3e19)),
)
"""Table 2. For big on English–French the body of Section 6.1 says 41.0; table and abstract 41.8."""


def best(pair: str, kinds: Iterable[str]) -> System:
    """Return the system of these kinds with the highest BLEU on a language pair.

    Raises:
        ValueError: Table 2 has none.
    """
    chosen = set(kinds)
    found = [system for system in TABLE_2 if system.kind in chosen and pair in system.bleu]
    if not found:
        raise ValueError(f"Table 2 has no system of {sorted(chosen)} for {pair!r}")
    return max(found, key=lambda system: system.bleu[pair])


@dataclass(frozen=True, kw_only=True)
class PublishedRun:
    """A score on Multi30k, test_2016_flickr, as it was published; lengths in tokens."""

    source: str
    bleu: float
    hypothesis_len: int
    reference_len: int

    @property
    def precisions_alone(self) -> float:
        """BLEU without its brevity penalty."""
        return self.bleu / brevity_penalty(self.hypothesis_len, self.reference_len)


WU_2021 = PublishedRun(
    source="Wu et al. 2021, text alone", bleu=41.02, hypothesis_len=12_096, reference_len=12_103
)
WITH_IMAGE = 41.96
"""The best system of the same paper, which also sees the picture."""
