"""What chapter 14 says of recorded runs holds for every seed."""

from walkthrough.ch14_the_training_run.experiments import LOOKS, PAGE, PRESET, WATCHED
from walkthrough.lab import frame


def test_three_seeds_reach_the_figures():
    runs = PRESET.frame()
    assert len(runs) >= 3
    assert (runs["test_sentences/greedy/exact"] >= 0.99).all()
    assert (runs["test_combinations/greedy/exact"] >= 0.90).all()
    assert list(runs.length) == [PRESET.task.load(small=True).plan.training.max_updates] * 3


def test_the_run_of_the_page_is_the_presets_with_less_text():
    preset, page = (one.task.load(small=True).plan.training for one in (PRESET, WATCHED))
    tokens = [run.max_updates * run.accumulate * run.max_tokens for run in (page, preset)]
    assert 0.25 < tokens[0] / tokens[1] < 0.35
    assert (page.schedule, page.peak, page.warmup) == (preset.schedule, preset.peak, 80)
    assert page.rate(page.max_updates, d_model=128) < page.peak / 200


def test_the_sentence_was_looked_at_when_it_should_be():
    (looks,) = frame("14-watched")["extra"]
    assert tuple(look["update"] for look in looks["looks"]) == LOOKS
    assert f"training.max_updates={LOOKS[-1]}" in PAGE
