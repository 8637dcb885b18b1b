"""Verdicts follow the rules, each of which can decide; rates are chosen and never at an edge."""

import math

import numpy as np
import pytest
from test_store import a_run
from toy import toy

from transformer.analysis.bleu import score
from walkthrough.lab import compare, measures, store
from walkthrough.lab.comparison import Point, best_rate, verdict_of
from walkthrough.lab.measures import SCALES, bleu_of_counts, scale_of, sentence_counts

LOSS, SHARE, PERPLEXITY = SCALES["loss"], SCALES["exact"], SCALES["perplexity"]
AT = Point(1, 2.0, 1.0, 3.0, 10)
NULL = Point(1, 0.2, -1.0, 1.4, 10)
OTHER_WAY = Point(2, -2.0, -3.0, -1.0, 3)
HARDLY = Point(2, -0.1, -1.0, 0.8, 3)


@pytest.mark.parametrize(
    ("verdict", "at", "how"),
    [
        ("too few seeds", Point(1, 2.0, 1.0, 3.0, 4), {}),
        ("ceiling", AT._replace(mean=3.0), {"base_level": 97.0}),
        ("worse", Point(1, -40.0, -50.0, -30.0, 10), {"base_level": 99.0}),
        ("turns with the rate", AT, {"neighbours": [OTHER_WAY]}),
        ("turns with the rate", AT, {"neighbours": [HARDLY]}),
        ("turns with the length", NULL, {"lengths": [OTHER_WAY]}),
        ("not told apart", NULL, {"lengths": [HARDLY]}),
        ("better", AT, {"lengths": [Point(2, 1.0, -1.0, 3.0, 5)]}),
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


def recorded(folder, losses, **changes):
    """Write runs: losses by arm, rate and length, one a seed."""
    e = toy(**{"rate_seeds": (1, 2), **changes})
    path = store.path_of(e.name, folder)
    for (arm, rate, length), values in losses.items():
        for seed, value in enumerate(values, start=1):
            told = {"figures": {"valid/-/loss": value}}
            if value is None:
                told = {"figures": {}, "failed": "the loss is nan"}
            store.append(path, a_run(arm=arm, rate=rate, length=length, seed=seed, **told))
    return e, path


def test_the_best_rate_is_the_mean_over_seeds_and_a_failed_run_is_the_worst(tmp_path):
    losses = {("slow", 1, 100): [3, 3], ("slow", 2, 100): [1, 4], ("slow", 4, 100): [0.1, None]}
    e, path = recorded(tmp_path, {("slow", 0.5, 100): [5, 5], **losses})
    assert best_rate(e, "slow", store.read(path).values()) == 2
    plain = toy(rates=(2,)), toy(choose=None)
    assert [best_rate(one, "slow", []) for one in plain] == [2, 1]


@pytest.mark.parametrize(
    ("best", "rates", "said"),
    [
        (0.5, [0.5, 1, 2, 4], "edge of 0.5, 1, 2, 4: add 0.25 to `rates`"),
        (2, [1, 2], "edge of 1, 2: add 4 to `rates`"),
        (1, [1], "the rates of 'slow' have not been searched"),
    ],
)
def test_a_best_rate_at_the_edge_is_refused_with_what_to_try(tmp_path, best, rates, said):
    losses = {("slow", rate, 100): [1 + (rate != best)] for rate in rates}
    e, path = recorded(tmp_path, losses)
    with pytest.raises(ValueError, match=said):
        best_rate(e, "slow", store.read(path).values())


def test_a_comparison_pairs_by_seed_at_each_arms_best_rate(tmp_path):
    ours, base = [0.9, 1.0, 1.2, 0.8, 1.1], [1.0, 1.2, 1.3, 1.0, 1.05]
    search = {("slow", r, 100): [2, 2] for r in (0.5, 2, 4)}
    search |= {("quick", r, 100): [2, 2] for r in (0.5, 1, 4, 8)}
    e, path = recorded(
        tmp_path,
        {**search, ("slow", 1, 100): base, ("quick", 2, 100): ours, ("slow", 1, 10): [9]},
    )
    found = compare(e, "quick", figure="loss", record=path)
    differences = np.array(ours) - np.array(base)
    half = 2.776445 * differences.std(ddof=1) / math.sqrt(5)  # t of 4 degrees of freedom
    assert found.mean == pytest.approx(differences.mean())
    assert (found.low, found.high) == pytest.approx(
        (differences.mean() - half, differences.mean() + half), rel=1e-5
    )
    assert (found.n, found.wins, found.rates, found.of_rates) == (5, 4, (2, 1), 4)
    assert found.verdict == "not told apart"
    assert compare(e, "quick", figure="loss", record=path, margin=1).verdict == "level"
    assert "4 of 5 pairs, at the best of four rates" in found.phrase()


def test_words_follow_the_verdict(tmp_path):
    losses = {("slow", 1, 100): [2.0, 2.1, 2.0, 2.1, 2.0], ("quick", 1, 100): [1.0] * 5}
    e, path = recorded(tmp_path, losses, rates=(1,), choose=None)
    better = compare(e, "quick", figure="loss", record=path)
    assert better.verdict == "better"
    assert better.phrase() == "1.0 nats better (1.0 to 1.1, 5 of 5 pairs)"
    worse = compare(e, "slow", "quick", figure="loss", record=path)
    assert worse.phrase() == better.phrase().replace("better", "worse")


def test_no_pair_no_base_and_unknown_names_are_refused(tmp_path):
    e, path = recorded(tmp_path, {("slow", 1, 100): [1] * 5}, rates=(1,), choose=None)
    with pytest.raises(ValueError, match="no seed has both"):
        compare(e, "quick", figure="loss", record=path)
    with pytest.raises(KeyError, match="did you mean quick"):
        compare(e, "quik", figure="loss", record=path)
    with pytest.raises(ValueError, match="has no base"):
        compare(toy(base=None), "quick", figure="loss", record=path)
    with pytest.raises(ValueError, match="01-toy has no runs in"):
        compare(e, "quick", figure="loss", record=path.with_name("none.jsonl"))
    with pytest.raises(KeyError, match="nobody said"):
        scale_of("valid/-/charm")
    assert [*map(measures.comparable, ("valid/-/charm", "valid/-/loss"))] == [False, True]
    assert scale_of("test/-/alignment_error") is SCALES["error"]
    lower = {name for name, scale in SCALES.items() if scale.lower_is_better}
    assert lower == {"perplexity", "loss", "updates", "error"}
    assert (PERPLEXITY.of(math.e), SHARE.of(0.5), LOSS.of(2)) == (100, 50, 2)


@pytest.mark.parametrize(
    ("at", "what"), [((1, 100), "rate"), ((4, 100), "rate"), ((2, 10), "length")]
)
def test_a_verdict_that_turns_beside_the_best_rate_or_at_another_length_is_told(tmp_path, at, what):
    places = [(1, 100), (2, 100), (4, 100), (2, 10)]
    losses = {("slow", *place): [2, 2.1, 2, 2.1, 2] for place in places}
    losses |= {("quick", *place): [3 if place == at else 1] * 5 for place in places}
    e, path = recorded(tmp_path, losses)
    verdict = compare(e, "quick", figure="loss", rate=2, record=path).verdict
    assert verdict == f"turns with the {what}"


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


def test_counts_add_the_interval_over_sentences_and_the_wider_one_counts(tmp_path):
    reference = [f"a b c d e {n}" for n in range(40)]
    wrong = [line if n % 2 else "a b c" for n, line in enumerate(reference)]
    e = toy(rates=(1,), choose=None)
    path = store.path_of(e.name, tmp_path)
    for seed in range(1, 6):
        for arm, lines in (("slow", wrong), ("quick", reference)):
            figures = {"test/greedy/bleu": 100.0 if arm == "quick" else 60.0 + 0.01 * seed}
            counts = {"test/greedy/bleu": sentence_counts(lines, reference)}
            store.append(path, a_run(arm=arm, length=100, seed=seed, figures=figures), counts)
    found = compare(e, "quick", figure="bleu", record=path)
    assert found.sentences == (found.low, found.high)
    assert found.high - found.low > 5  # over seeds it would be a twentieth
    wider = compare(e, "quick", figure="bleu", record=path, family=10)
    assert wider.low < found.low < found.high < 50
    assert found.verdict == "better"
