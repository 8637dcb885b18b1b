"""The checks of chapter 15 accept right answers and name every mistake they list."""

import pytest
import torch

from transformer.inference.beam import length_penalty
from walkthrough.ch15_decoding import checks
from walkthrough.checking.soundness import assert_check_is_sound


@pytest.mark.parametrize(
    "check",
    [checks.score, checks.beam_step, checks.kind_of_error, checks.average],
    ids=lambda check: check.name,
)
def test_check_rejects_and_names_each_mistake(check):
    assert_check_is_sound(check)
    assert len(check.mistakes) >= 3


def test_a_learners_own_ways_are_right():
    def step(totals, log_probs, beam):
        found = [
            (float(totals[row] + log_probs[row, token]), row, token)
            for row in range(log_probs.shape[0])
            for token in range(log_probs.shape[1])
        ]
        best = sorted(found, reverse=True)[:beam]
        scores, rows, tokens = zip(*best, strict=True)
        return torch.tensor(rows), torch.tensor(tokens), torch.tensor(scores)

    def average(states):
        return {name: torch.stack([s[name] for s in states]).mean(0) for name in states[0]}

    assert checks.score(lambda lp, n, a: lp * (6 / (5 + n)) ** a).status == "right"
    assert checks.beam_step(step).status == "right"
    assert checks.average(average).status == "right"


def test_a_mean_that_adds_up_in_the_first_checkpoint_is_caught():
    def average(states):
        mean = dict(states[0])  # a new dictionary, with the old tensors
        for state in states[1:]:
            for name in mean:
                mean[name] += state[name]
        return {name: tensor / len(states) for name, tensor in mean.items()}

    verdict = checks.average(average)
    assert verdict.mistake == "changes its input"
    assert "`states[0]['weight']`" in verdict.message


def test_the_reference_score_is_the_packages():
    assert checks.score.reference(-3.0, 7, 0.6) == -3.0 / length_penalty(7, 0.6)
