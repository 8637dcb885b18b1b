"""The two models that ship: no output of a beam scores below greedy's, as its rule once let it.

Over all 1 000 sentences of both splits the default leaves none below, but for three combinations of
the half-trained one, where greedy's path falls out of the beam. Here: some, and all that fell.
"""

from functools import cache
from pathlib import Path

import pytest
import torch
from test_beam import greedily

from phrasebook.corpus import phrasebook_corpus
from transformer.config import EOS_ID, PAD_ID
from transformer.inference.beam import beam_search
from transformer.translator import Translator

RESULTS = Path(__file__).parents[3] / "results"
FELL = {  # below greedy's where `beam` finished outputs end a search, α = 0.6
    ("translator", "test_sentences"): [313, 437],
    ("translator", "test_combinations"): [4, 178, 208, 327, 638, 814],
    ("half-trained", "test_sentences"): [448, 564, 792, 864],
}
PRUNED = [180, 298, 525]


@cache
def asked(name: str, split: str) -> tuple[Translator, torch.Tensor]:
    """A model, and 60 sentences after those that fell or were pruned."""
    translator = Translator.load(RESULTS / f"phrasebook-{name}.safetensors")
    lines, first = phrasebook_corpus(split).source, FELL.get((name, split), PRUNED)
    chosen = [lines[number] for number in (*first, *range(900, 960))]
    rows = [torch.tensor([*translator.codec.encode(line), EOS_ID]) for line in chosen]
    padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD_ID)
    return translator, padded


def below_greedy(name: str, split: str, alpha: float | None, **how) -> list[int]:
    translator, source = asked(name, split)
    found = beam_search(translator.model, source, alpha=alpha, **how)
    first = greedily(translator.model, source, alpha=alpha)
    both = enumerate(zip(found, first, strict=True))
    return [row for row, ((best,), one) in both if best.score < one.score - 1e-4]


@pytest.mark.parametrize("alpha", [0.0, 0.6, None])
@pytest.mark.parametrize(("name", "split"), FELL)
def test_no_output_scores_below_greedys(name: str, split: str, alpha: float | None) -> None:
    assert below_greedy(name, split, alpha) == []


@pytest.mark.parametrize(("name", "split"), FELL)
def test_the_early_end_returns_some_below_greedys(name: str, split: str) -> None:
    fell = below_greedy(name, split, 0.6, early_stopping=True)
    assert fell == list(range(len(FELL[name, split])))


def test_a_beam_can_still_lose_greedys_path() -> None:
    for early_stopping in (False, True):
        how = {"alpha": 0.6, "early_stopping": early_stopping}
        assert below_greedy("half-trained", "test_combinations", **how) == [0, 1, 2]
    wider = below_greedy("half-trained", "test_combinations", 0.6, beam=10)
    assert len(wider) < len(PRUNED)
