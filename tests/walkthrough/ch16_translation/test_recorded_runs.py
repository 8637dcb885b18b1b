"""What chapter 16 reads off recorded runs: settings, scores, costs."""

import pytest

from transformer.config import TransformerConfig
from transformer.model import Transformer
from walkthrough.ch16_translation.experiments import published, recorded_runs, run_scores
from walkthrough.ch16_translation.figures import translation


def evaluation(**changes):
    given = {
        "split": "test_2016_flickr",
        "average": 1,
        "beam": 5,
        "alpha": 0.6,
        "bleu": 38.0,
        "chrf": 60.0,
        "brevity_penalty": 0.95,
        "perplexity": 5.6,
        "bleu_signature": "tok:none",
        "chrf_signature": "nc:6",
    }
    return given | changes


def run(*results, seed=1, source="en", target="de", training=(), **changes):
    model = {"vocab_size": 900, "d_model": 64, "n_heads": 2, "n_layers": 2, "d_ff": 128}
    return {
        "seed": seed,
        "settings": {
            "data": {"source_language": source, "target_language": target, "merges": 50},
            "model": model | {"norm": "post", "dropout": 0.3, "residual_init": "scaled"},
            "training": {
                "smoothing": 0.1,
                "schedule": "linear",
                "peak": 0.003,
                "warmup": 800,
                "max_tokens": 512,
                "accumulate": 4,
                **dict(training),
            },
        },
        "curve": [
            {"update": 1.0, "tokens": 1900.0, "valid_perplexity": 90.0},
            {"update": 10.0, "tokens": 18970.0, "valid_perplexity": 6.0, "seconds": 150.0},
        ],
        "evaluation": list(results),
        **changes,
    }


@pytest.mark.parametrize("n_runs", [1, 2, 3])
def test_runs_go_by_their_names_however_many_there_are(n_runs):
    runs = [run(evaluation(), name="a"), run(evaluation(), name="b"), run(evaluation(), seed=2)]
    record = {"runs": runs[:n_runs]}
    names = ["a", "b", "run 3"][:n_runs]
    assert list(recorded_runs.by_name(record)) == names
    assert list(recorded_runs.curves(record)) == names
    assert recorded_runs.curves(record)["a"][-1] == (0.01897, 6.0)
    assert [row["run"] for row in run_scores.score_rows(record, run_scores.TEST)] == names
    with pytest.raises(ValueError, match="different names, got a, b, run 3, a"):
        recorded_runs.by_name({"runs": [*runs, runs[0]]})


def test_every_decoding_is_shown_and_the_validation_split_chooses_one():
    tried = run(
        evaluation(bleu=44.0, split="val", average=5),
        evaluation(bleu=45.0, split="val", average=5, alpha=1.6),
        evaluation(bleu=38.5, average=5, alpha=1.6),
        evaluation(bleu=39.5),
        evaluation(bleu=38.9, average=5),
        evaluation(bleu=37.0, beam=1),
        name="tried",
    )
    record = {"runs": [tried, run(evaluation(), name="not tried")]}
    rows = run_scores.score_rows(record, run_scores.TEST)
    assert [(row["BLEU"], row["α"], row["chosen"]) for row in rows] == [
        (37.0, "–", False),
        (39.5, "0.6", False),
        (38.9, "0.6", False),
        (38.5, "1.6", True),
        (38.0, "0.6", False),
    ]
    assert len(run_scores.score_rows(record, run_scores.VALIDATION)) == 2


def test_the_table_of_scores_has_a_line_a_decoding_and_gaps_with_their_sign():
    tried = run(evaluation(split="val"), evaluation(bleu=40.0), evaluation(beam=1, bleu=42.0))
    rows = run_scores.score_rows({"runs": [tried]}, run_scores.TEST)
    lines = run_scores.score_table(rows, beside=41.02).splitlines()
    assert " ".join(lines[0].split()) == "run BLEU gap penalty chrF beam checkpoints α"
    assert " ".join(lines[1].split()) == "run 1 42.00 +0.98 0.950 60.00 1 1 –"
    assert " ".join(lines[2].split()) == "→ run 1 40.00 -1.02 0.950 60.00 5 1 0.6"
    assert "gap" not in run_scores.score_table(rows)
    assert lines[1].index("–") == lines[2].index("0.6") + 2
    with pytest.raises(ValueError, match="at least 1 row, got 0"):
        run_scores.score_table([])


def test_a_gap_that_rounds_to_nothing_has_no_minus():
    rows = run_scores.score_rows({"runs": [run(evaluation(bleu=41.018))]}, run_scores.TEST)
    assert "+0.00" in run_scores.score_table(rows, beside=41.02)


def test_the_mean_over_seeds_is_of_decodings_that_all_have():
    def seed(name, greedy, short, long, *others):
        return run(
            evaluation(bleu=50.0, split="val", alpha=1.6),
            evaluation(bleu=greedy, beam=1),
            evaluation(bleu=short),
            evaluation(bleu=long, alpha=1.6),
            *others,
            name=name,
        )

    runs = [
        seed("a", 30.0, 38.0, 40.0),
        seed("b", 32.0, 39.5, 41.0),
        seed("c", 34.0, 39.5, 45.0, evaluation(bleu=47.0, alpha=1.0)),
        seed("other", 0.0, 0.0, 0.0),
    ]
    rows = run_scores.score_rows({"runs": runs}, run_scores.TEST)
    means = run_scores.over_seeds(rows, ["a", "b", "c"])
    found = [(m["α"], m["BLEU"], m["lowest"], m["highest"], m["chosen"]) for m in means]
    assert found == [
        ("–", 32.0, 30.0, 34.0, False),
        ("0.6", 39.0, 38.0, 39.5, False),
        ("1.6", 42.0, 40.0, 45.0, True),
    ]
    table = run_scores.score_table(means, beside=41.02).splitlines()
    assert " ".join(table[-1].split()) == (
        "→ mean of 3 42.00 +0.98 40.00 45.00 0.950 60.00 5 1 1.6"
    )


def test_runs_that_chose_differently_have_a_row_of_what_each_chose():
    runs = [
        run(evaluation(split="val", alpha=alpha), evaluation(bleu=bleu, alpha=alpha), name=name)
        for name, alpha, bleu in (("a", 0.6, 40.0), ("b", 1.6, 42.0))
    ]
    rows = run_scores.score_rows({"runs": runs}, run_scores.TEST)
    (mean,) = run_scores.over_seeds(rows, ["a", "b"])
    assert (mean["BLEU"], mean["α"], mean["beam"], mean["chosen"]) == (41.0, "0.6, 1.6", "5", True)
    with pytest.raises(ValueError, match="chose; c have none, a, b have one"):
        run_scores.over_seeds(rows, ["a", "b", "c"])


def test_settings_are_put_beside_the_published_ones_by_name():
    (decoded,) = run_scores.score_rows({"runs": [run(evaluation(average=5))]}, "test_2016_flickr")
    ours = recorded_runs.settings_of(run(), decoded)
    rows = {row["setting"]: row for row in recorded_runs.setting_rows(published.WU_2021, ours)}
    same = {name for name, row in rows.items() if row["same"] == "✓"}
    assert {"norm", "dropout", "label smoothing", "beam"} <= same
    assert not {"schedule", "peak rate", "layers", "checkpoints averaged"} & same
    assert rows["length penalty"]["same"] == "✗"
    assert rows["dropout"]["published"] == "0.3"
    assert (ours["tokens an update"], ours["length penalty"]) == ("about 1900", "α = 0.6")
    with pytest.raises(ValueError, match="same names"):
        recorded_runs.setting_rows(published.WU_2021, {"norm": "post"})


@pytest.mark.parametrize("theirs", [published.WU_2021, published.TUTORIAL])
def test_the_table_of_settings_prints_numbers_as_people_write_them(theirs):
    record = {"runs": [run(evaluation(beam=1))]}
    (decoded,) = run_scores.score_rows(record, run_scores.TEST)
    page = translation.setting_table(theirs, run(), decoded).to_html()
    assert page.count("<tr>") == len(theirs.settings) + 1
    assert ">0.003<" in page
    assert "00000" not in page
    alone = translation.setting_table(theirs).to_html()
    assert f">{theirs.settings['peak rate']}<" in alone
    assert "ours" not in alone


def test_runs_say_what_they_have_that_the_first_has_not():
    first = run(name="first")
    record = {
        "runs": [
            first,
            run(name="again", seed=2),
            run(
                name="longer",
                seed=3,
                continues="first",
                training={"peak": 0.0015},
                curve=[*first["curve"], {"update": 20.0, "tokens": 18970.0 + 9500.0}],
            ),
            run(name="two", training={"accumulate": 2}, command="torch --nproc-per-node=2 -m"),
            run(name="large", training={"accumulate": 1}),
        ]
    }
    assert recorded_runs.changes(record) == {
        "again": ["seed at the start: 1 → 2"],
        "longer": [
            "peak rate: 0.003 → 0.0015",
            "tokens an update: about 1900 → about 950",
            "updates: 10 → 20",
            "goes on from: nothing → first",
        ],
        "two": ["processes: 1 → 2"],
        "large": ["batches an update: 4 → 1"],
    }


def test_flops_hardly_depend_on_the_length_and_grow_with_the_tokens():
    alone = {"runs": []}
    short, long = (recorded_runs.run_flops(run(), alone, length=n) for n in (10, 20))
    assert long == pytest.approx(short, rel=0.2)
    more = run()
    more["curve"][-1]["tokens"] *= 2
    ours, twice = (recorded_runs.run_flops(one, alone) for one in (run(), more))
    assert twice == pytest.approx(2 * ours)


def test_r_drop_counts_twice_and_what_it_went_on_from_as_that_was_trained():
    first = run(name="first")
    start, end = (point["tokens"] for point in first["curve"])
    later = [{**first["curve"][-1], "tokens": end + more} for more in (100, 300)]
    plain, drop = (
        run(name=f"on with {weight}", continues="first", training={"r_drop": weight})
        for weight in (0.0, 5.0)
    )
    plain["curve"] = drop["curve"] = first["curve"] + later
    early = run(name="early", continues="first", training={"r_drop": 5.0})
    early["curve"] = [*first["curve"][:1], {**first["curve"][-1], "tokens": start + 50}]
    on_again = run(name="on again", continues=drop["name"])
    on_again["curve"] = drop["curve"] + [{**later[-1], "tokens": end + 1300}]
    record = {"runs": [first, plain, drop, early, on_again]}
    counted = [recorded_runs.tokens_computed(one, record) for one in record["runs"]]
    assert counted == [end, end + 300, end + 600, start + 100, end + 1600]
    assert recorded_runs.changes(record)[drop["name"]][-1] == "R-Drop: off → 5.0"


def test_a_run_costs_minutes_tokens_flops_and_a_share_of_a_larger_one():
    (row,) = recorded_runs.cost_rows({"runs": [run(name="a")]}, base=1e15)
    assert (row["run"], row["minutes"], row["target tokens"], row["MB"]) == ("a", 2.5, 18970, None)
    assert row["FLOPs"] * row["base"] == pytest.approx(1e15)


def test_parameters_are_those_of_the_model():
    config = TransformerConfig.from_dict(run()["settings"]["model"])
    assert recorded_runs.n_parameters(run()) == Transformer(config).n_parameters


def test_no_record_and_no_quotations(tmp_path):
    assert run_scores.score_rows({"runs": []}, run_scores.TEST) == []
    assert recorded_runs.quoted(folder=tmp_path) == []
    (tmp_path / "few.json").write_text('{"sentences": [{"source": "a"}]}')
    assert recorded_runs.quoted("few", folder=tmp_path) == [{"source": "a"}]
