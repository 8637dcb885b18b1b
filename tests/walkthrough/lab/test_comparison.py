"""Verdicts follow the rules, each of which can decide; rates are chosen and never at an edge."""

import math
from dataclasses import replace

import numpy as np
import pytest
from test_store import a_run
from toy import toy

from transformer.analysis.bleu import score
from walkthrough.lab import compare, holm, measures, store
from walkthrough.lab.comparison import Beside, verdict_of
from walkthrough.lab.intervals import Point, point
from walkthrough.lab.measures import SCALES, bleu_of_counts, scale_of, sentence_counts
from walkthrough.lab.rates import Best, best_rate

LOSS, SHARE, PERPLEXITY = SCALES["loss"], SCALES["exact"], SCALES["perplexity"]
AT = Point(1, 2.0, 1.0, 3.0, 10)
NULL = Point(1, 0.2, -1.0, 1.4, 10)
OTHER_WAY = Point(2, -2.0, -3.0, -1.0, 3)
HARDLY = Point(2, -0.1, -1.0, 0.8, 3)
ONE_PAIR = Point(2, -2.0, math.nan, math.nan, 1)


@pytest.mark.parametrize(
    ("verdict", "at", "how"),
    [
        ("too few seeds", Point(1, 2.0, 1.0, 3.0, 4), {}),
        ("ceiling", AT._replace(mean=3.0), {"base_level": 97.0}),
        ("worse", Point(1, -40.0, -50.0, -30.0, 10), {"base_level": 99.0}),
        ("one rate", AT, {"fault": "one rate", "neighbours": [OTHER_WAY]}),
        ("not told apart", NULL, {"fault": "one rate"}),
        ("edge of the rates", NULL, {"fault": "edge of the rates", "margin": 1.5}),
        ("turns with the rate", AT, {"neighbours": [OTHER_WAY]}),
        ("better only at the best rates", AT, {"neighbours": [HARDLY]}),
        ("better", AT, {"neighbours": [ONE_PAIR]}),
        ("turns with the length", AT, {"lengths": [OTHER_WAY]}),
        ("better only at this length", AT, {"lengths": [HARDLY]}),
        ("not told apart", NULL, {"lengths": [OTHER_WAY]}),
        ("better", AT, {"lengths": [Point(2, 1.0, -1.0, 3.0, 5)]}),
        ("depends on the measure", AT, {"beside": [Beside("a/b/c", "", "worse")]}),
        ("better", AT, {"beside": [Beside("a/b/c", "", "better")]}),
        ("better at this rate", AT, {"asked": True}),
        ("worse", AT, {"scale": LOSS}),
        ("better", OTHER_WAY._replace(n=5), {"scale": LOSS}),
        ("better", Point(1, 0.5, 0.2, 0.8, 10), {"base_level": 96.9}),
        ("not told apart", Point(1, 1.0, 0.0, 2.0, 10), {}),
        ("not told apart", Point(1, -1.0, -2.0, 0.0, 10), {}),
        ("better", AT, {"neighbours": [Point(2, 0.0, -1.0, 1.0, 3)]}),
        ("level", NULL, {"margin": 1.5}),
        ("not told apart", NULL, {"margin": 1.2}),
        ("ceiling", NULL, {"scale": PERPLEXITY, "base_level": 100 * math.log(1.02)}),
        ("not told apart", NULL, {"scale": PERPLEXITY, "base_level": 100 * math.log(1.035)}),
    ],
)
def test_the_rules_of_a_verdict(verdict, at, how):
    assert verdict_of(at, **{"base_level": 50.0, "scale": SHARE, **how}) == verdict


def recorded(folder, losses, figure="valid/-/loss", **changes):
    """Write runs: losses by arm, rate and length, one a seed."""
    e = toy(**{"rate_seeds": (1, 2), **changes})
    path = store.path_of(e.name, folder)
    for (arm, rate, length), values in losses.items():
        for seed, value in enumerate(values, start=1):
            told = {"figures": value if isinstance(value, dict) else {figure: value}}
            if value is None:
                told = {"figures": {}, "failed": "the loss is nan"}
            store.append(path, a_run(arm=arm, rate=rate, length=length, seed=seed, **told))
    return e, path


@pytest.mark.parametrize(
    ("losses", "found"),
    [
        ({0.5: [5, 5], 1: [3, 3], 2: [1, 4], 4: [0.1, None]}, Best(2, 4, "")),
        ({1: [1, 1]}, Best(1, 1, "one rate", "add 2")),
        ({1: [2, 2], 2: [1, 1]}, Best(2, 2, "edge of the rates", "add 4")),
        ({0.5: [1, 1], 1: [2, 2]}, Best(0.5, 2, "edge of the rates", "add 0.25")),
        ({0.25: [2, 2], 1: [1, 1], 2: [2, 2]}, Best(1, 3, "coarse rates", "add 0.5")),
        ({0.5: [1, 1], 1: [1, 1], 2: [1, 1]}, Best(1, 3, "")),  # of equal ones the middle one
        (
            {1: [2, 2], 2: [1, 1], 4: [2, 2], 8: [0.1]},
            Best(2, 3, ""),
        ),  # the last has no second seed
        # three seeds do not tell ×2 from ×1, where most runs are; five say that this is no edge
        (
            {0.5: [3, 4, 5], 1: [1, 2, 3, 1, 1], 2: [1, 2, 2.9]},
            Best(1, 3, "edge of the rates", "add 4"),
        ),
        ({1: [1, 2, 3, 1, 2, 2], 2: [1, 2, 2.9, 1, 2], 0.5: [3, 4, 5, 4, 3]}, Best(1, 3, "")),
        # a plateau has no edge, if five seeds and three rates say that it is one
        ({0.5: [1, 2, 3, 1, 2], 1: [1, 2, 3, 2, 1], 2: [1, 2, 2.9, 1, 2]}, Best(2, 3, "")),
        ({1: [1, 2, 3, 2, 1], 2: [1, 2, 2.9, 1, 2]}, Best(2, 2, "edge of the rates", "add 4")),
    ],
)
def test_the_best_rate_has_neighbours_on_both_sides_or_says_what_is_missing(
    tmp_path, losses, found
):
    e, path = recorded(tmp_path, {("slow", rate, 100): of for rate, of in losses.items()})
    assert best_rate(e, "slow", store.read(path).values()) == found


def test_a_rate_is_chosen_at_the_length_and_by_the_figure_that_are_shown(tmp_path):
    def run_of(valid, long):
        return {"valid/-/loss": valid, "test/-/loss": valid, "long/-/loss": long}

    best = {10: (1, 2), 100: (2, 4)}  # by short and by long sentences
    losses = {
        ("slow", rate, length): [run_of(1 + (rate != short), 1 + (rate != long))] * 2
        for length, (short, long) in best.items()
        for rate in (0.5, 1, 2, 4, 8)
    }
    e, path = recorded(tmp_path, losses)
    runs = store.read(path).values()
    for length, (short, long) in best.items():
        for figure, rate in (("test/-/loss", short), ("long/-/loss", long), ("", short)):
            assert best_rate(e, "slow", runs, figure=figure, length=length).rate == rate
    assert best_rate(toy(no_rate="nothing is trained", rates=(1,)), "slow", [
        run for run in runs if run.rate == 1
    ]).fault == ""  # fmt: skip
    with pytest.raises(ValueError, match="'slow' has no runs at length 7"):
        best_rate(e, "slow", runs, length=7)


def around(arm, best, values, worse=9):
    """Runs of an arm at its best rate, and worse ones at half and twice it."""
    beside = {(arm, best * factor, 100): [worse] * len(values) for factor in (0.5, 2)}
    return {**beside, (arm, best, 100): values}


def test_a_comparison_pairs_by_seed_at_each_arms_best_rate(tmp_path):
    ours, base = [0.9, 1.0, 1.2, 0.8, 1.1, 1.0], [1.0, 1.2, 1.3, 1.0, 1.05, 1.4]
    by = "valid/-/perplexity"
    losses = {**around("slow", 1, base), **around("quick", 2, ours), ("slow", 1, 10): [9]}
    e, path = recorded(tmp_path, losses, by, choose="")
    found = compare(e, "quick", figure="perplexity", record=path)
    differences = 100 * (np.log(ours) - np.log(base))
    half = 2.570582 * differences.std(ddof=1) / math.sqrt(6)  # t of 5 degrees of freedom
    assert found.mean == pytest.approx(differences.mean())
    assert (found.low, found.high) == pytest.approx(
        (differences.mean() - half, differences.mean() + half), rel=1e-5
    )
    assert (found.n, found.wins, found.rates, found.of_rates) == (6, 5, (2, 1), (3, 3))
    assert (found.verdict, found.side) == ("better", "better")
    assert "5 of 6 pairs, at ×2 of three and ×1 of three rates" in found.phrase()
    with pytest.raises(ValueError, match="no seed has both 'quick' at rate ×7"):
        compare(e, "quick", figure="perplexity", record=path, rate=7)


def test_words_follow_the_verdict(tmp_path):
    base = [2.0, 2.1, 2.0, 2.1, 2.0, 2.0]
    e, path = recorded(tmp_path, {**around("slow", 1, base), **around("quick", 1, [1.0] * 6)})
    better = compare(e, "quick", figure="loss", record=path)
    assert better.verdict == "better"
    rates = "both at ×1, the best of three"
    assert better.phrase() == f"1.0 nats better (1.0 to 1.1, 6 of 6 pairs, {rates})"
    worse = compare(e, "slow", "quick", figure="loss", record=path)
    assert worse.phrase() == better.phrase().replace("better", "worse")
    asked = compare(e, "quick", figure="loss", record=path, rate=1)
    assert (asked.verdict, asked.at_rates) == ("better at this rate", "both at ×1")


def test_skewed_losses_are_told_apart_by_their_signs_not_by_student():
    skewed = [0.003, 0.005, 0.004, 0.4, 0.01, 0.02, 0.3, -0.001, 0.006, 0.004]  # as in 08
    signs, student = (point(0, skewed, scale) for scale in (LOSS, SHARE))
    assert signs.stands_out
    assert not student.stands_out
    means = [
        m
        for n in range(1, 2**10)
        if (m := np.mean([d for i, d in enumerate(skewed) if n >> i & 1])) <= 0
    ]
    assert signs.p == 2 * (len(means) + 1) / 2**10
    assert not point(0, [1.0, 1.1, 1.2, 1.3, 1.4], LOSS).stands_out  # five pairs: 2 of 32 signs
    assert point(0, [1.0, 1.1, 1.2, 1.3, 1.4, 1.5], LOSS)[2:4] == (1.0, 1.5)
    assert point(0, [0.01 * n for n in range(1, 21)], LOSS).stands_out


def test_a_claim_of_several_rows_is_told_by_holm(tmp_path):
    e, path = recorded(tmp_path, {**around("slow", 1, [2.0] * 6), **around("quick", 1, [1.0] * 6)})
    one = compare(e, "quick", figure="loss", record=path)

    def told(*ps, **changes):
        return [row.verdict for row in holm(replace(one, p=p, **changes) for p in ps)]

    assert told(0.01, 0.04, 0.02) == ["better"] * 3
    assert told(0.01, 0.04, 0.03) == ["better", *["not told apart"] * 2]
    assert told(0.9, verdict="too few seeds") == ["too few seeds"]


def test_no_pair_no_base_and_unknown_names_are_refused(tmp_path):
    e, path = recorded(tmp_path, {("slow", 1, 100): [1] * 5}, rates=(1,), choose="")
    with pytest.raises(ValueError, match="'quick' has no runs at length 100"):
        compare(e, "quick", figure="loss", record=path)
    with pytest.raises(KeyError, match="did you mean quick"):
        compare(e, "quik", figure="loss", record=path)
    with pytest.raises(ValueError, match="has no base"):
        compare(toy(base=None), "quick", figure="loss", record=path)
    with pytest.raises(ValueError, match="01-toy has no runs in"):
        compare(e, "quick", figure="loss", record=path.with_name("none.jsonl"))
    with pytest.raises(KeyError, match="nobody said"):
        scale_of("valid/-/charm")
    asked = ("valid/-/charm", "test/search/search_error", "valid/-/loss")
    assert [*map(measures.comparable, asked)] == [False, False, True]
    assert scale_of("test/-/alignment_error") is SCALES["error"]
    lower = {name for name, scale in SCALES.items() if scale.lower_is_better}
    assert lower == {"perplexity", "loss", "updates", "error"}
    assert (PERPLEXITY.of(math.e), SHARE.of(0.5), LOSS.of(2)) == (100, 50, 2)


@pytest.mark.parametrize(
    ("at", "verdict"),
    [((1, 100), "turns with the rate"), ((4, 100), "turns with the rate"),
     ((None, 10), "turns with the length"), ((8, 100), "better")],
)  # fmt: skip
def test_a_verdict_that_turns_beside_the_best_rate_or_at_another_length_is_told(
    tmp_path, at, verdict
):
    places = [(rate, n) for rate in (1, 2, 4, 8) for n in (10, 100)]
    losses = {("slow", *place): [2 + (place[0] != 2)] * 5 for place in places}
    losses |= {
        ("quick", *place): [(6 if at in (place, (None, place[1])) else 1) + (place[0] != 2)] * 5
        for place in places
    }
    e, path = recorded(tmp_path, losses)
    assert compare(e, "quick", figure="loss", record=path).verdict == verdict


def test_measures_that_disagree_are_told(tmp_path):
    def both(loss, exact):
        return [{"valid/-/loss": loss, "test/greedy/exact": exact}] * 5

    losses = {(arm, rate, 100): both(9, 0) for arm in ("slow", "quick") for rate in (1, 4)}
    losses |= {("slow", 2, 100): both(1, 0.2), ("quick", 2, 100): both(2, 0.3)}
    e, path = recorded(tmp_path, losses)
    for figure in ("loss", "exact"):
        found = compare(e, "quick", figure=figure, record=path)
        assert found.verdict == "depends on the measure"
    assert found.beside == (Beside("valid/-/loss", "1.0 nats worse", "worse"),)


def test_counts_added_up_give_the_score_of_sacrebleu():
    reference = [f"a dog runs over the grass , and {n} men look at it ." for n in range(40)]
    wrong = [line.replace("grass", "snow") for line in reference]
    short = [line.rsplit(" ", 2)[0] for line in reference]
    typed = [line.replace(" ,", ",").replace(" .", ".") + " " for line in wrong]
    for lines in (reference, wrong, short, typed, ["a dog", *reference[1:]]):
        for cut in ("none", "13a"):
            found = bleu_of_counts(sentence_counts(lines, reference, tokenize=cut).sum(axis=0))
            assert found == pytest.approx(score(lines, reference, tokenize=cut).bleu)
    assert [measures.f1_of_counts(np.array([n, 4, 6])) for n in (3, 0)] == [60, 0]
    assert [measures.share_of_counts(np.array([n, n * 2])) for n in (3, 0)] == [0.5, 0]
    with pytest.raises(ValueError, match="got 39 and 40"):
        sentence_counts(wrong[1:], reference)


def test_variances_of_seeds_and_of_sentences_add(tmp_path):
    reference = [f"a b c d e {n}" for n in range(40)]
    wrong = [line if n % 2 else "a b c" for n, line in enumerate(reference)]
    e = toy(rates=(1,), choose="", no_rate="both arms decode one model")
    path = store.path_of(e.name, tmp_path)
    for seed in range(1, 6):
        for arm, lines in (("slow", wrong), ("quick", reference)):
            figures = {"test/greedy/bleu": 100.0 if arm == "quick" else 60.0 + 5 * seed}
            counts = {"test/greedy/bleu": sentence_counts(lines, reference)}
            store.append(path, a_run(arm=arm, length=100, seed=seed, figures=figures), counts)
    found = compare(e, "quick", figure="bleu", record=path)
    alone = point(0, found.differences, SCALES["bleu"])
    path.with_name("01-toy.counts.npz").rename(tmp_path / "away")
    assert compare(e, "quick", figure="bleu", record=path).low == pytest.approx(alone.low)
    assert found.low < alone.low - 1
    assert found.high > alone.high + 1
    assert (found.verdict, found.p > alone.p) == ("better", True)
