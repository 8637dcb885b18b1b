"""Chapter 16's runs: how each row decodes was chosen on validation, and what the table says."""

import pytest

from transformer.data.multi30k import file_name, multi30k_folder
from walkthrough.ch16_translation.experiments import protocol, recipe
from walkthrough.lab import Job, Key, Measure, Outcome, Trained
from walkthrough.lab.runner import joined

FIRST = recipe.EXPERIMENT.frame().query("seed == 1")


@pytest.mark.parametrize("run", [run for _, run in FIRST.iterrows()])
def test_a_row_decodes_as_the_validation_captions_chose_or_as_the_paper_prints(run):
    found = {one: run[f"val/{one.name}/bleu"] for one in recipe.TRIED}
    best = max(found, key=found.get)
    if run["arm"] == "the paper's":
        assert run["decoding"] not in recipe.TRIED
    else:
        assert run["decoding"] == best
        assert run["val/chosen/bleu"] == found[best]
        assert best.alpha not in (0, 2.6)  # the edges of what was tried
        assert best.average != 30


def test_figures_have_one_name_in_every_arm_however_it_decodes(monkeypatch):
    def evaluated(split, decodings, *, scores):
        names = [f"{split}/{one.name}/{score}" for one in decodings for score in scores]
        found = Outcome(figures=dict.fromkeys(names, 1.0), counts={names[0]: [[1]]})
        return Measure((), lambda job, trained: found)

    monkeypatch.setattr(recipe, "evaluated", evaluated)
    e = recipe.EXPERIMENT
    for arm in e.arms:
        job = Job(e, arm, Key(arm.name, 1.0, 6000, 1), data=False)
        found = joined(one.of(job, Trained(model=None)) for one in (*e.measures, *e.tests))
        wanted = {*e.figures(1), *(figure for test in e.tests for figure in test.figures)}
        assert wanted <= set(found.figures)
        n_tried = sum(name.startswith("val/beam5-") for name in found.figures)
        assert n_tried == (0 if arm.name == "the paper's" else 35)
        assert {name.split("/")[1] for name in found.counts} == {"chosen", "greedy"}


def test_the_table_has_a_line_an_arm_and_test_set_and_the_published_run():
    lines = protocol.score_table(protocol.EXPERIMENT.frame()).splitlines()
    told = [" ".join(line.split()) for line in lines]
    assert told[:2] == [
        "BLEU precisions outputs references ratio",
        "published 2016 40.34 (40.00–40.64) 41.42 11792 12103 0.974",
    ]
    assert told[-1] == "as printed 2016 41.02 41.04 12096 12103 0.999"
    assert len(told) == 10


def test_the_source_words_are_those_of_the_files():
    folder = multi30k_folder() / "data" / "task1"
    for split, n in protocol.SOURCE_WORDS.items():
        path = folder / file_name("en", split, "lc.norm.tok")
        if not path.is_file():
            pytest.skip("Multi30k is fetched when a run first asks for it")
        assert len(path.read_text(encoding="utf-8").split()) == n
