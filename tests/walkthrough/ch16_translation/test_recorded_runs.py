"""What chapter 16 reads off a recorded run: its settings and its cost."""

import pytest

from transformer.config import TransformerConfig
from transformer.model import Transformer
from walkthrough.ch16_translation.experiments import published, recorded_runs
from walkthrough.ch16_translation.figures import translation

DECODING = {"beam": 5, "alpha": 0.6, "average": 5}


def test_settings_are_put_beside_the_published_ones_by_name(run):
    ours = recorded_runs.settings_of(run(), DECODING)
    rows = {row["setting"]: row for row in recorded_runs.setting_rows(published.WU_2021, ours)}
    same = {name for name, row in rows.items() if row["same"] == "✓"}
    assert {"norm", "dropout", "label smoothing", "R-Drop", "beam"} <= same
    assert not {"schedule", "peak rate", "layers", "checkpoints averaged"} & same
    assert rows["length penalty"]["same"] == "✗"
    assert rows["start of the residual branches"]["same"] == "?"
    assert rows["dropout"]["published"] == "0.3"
    assert (ours["tokens an update"], ours["length penalty"]) == ("about 1900", "α = 0.6")
    assert recorded_runs.settings_of(run(), {**DECODING, "beam": 1})["length penalty"] == "none"
    with pytest.raises(ValueError, match="same names"):
        recorded_runs.setting_rows(published.WU_2021, {"norm": "post"})


def test_r_drop_is_a_setting_that_the_published_one_lacks(run):
    ours = recorded_runs.settings_of(run(training={"r_drop": 2.0}), DECODING)
    rows = {row["setting"]: row for row in recorded_runs.setting_rows(published.WU_2021, ours)}
    assert (rows["R-Drop"]["same"], rows["R-Drop"]["ours"]) == ("✗", "2.0")


@pytest.mark.parametrize("theirs", [published.WU_2021, published.TUTORIAL])
def test_the_table_of_settings_prints_numbers_as_people_write_them(theirs, run):
    page = translation.setting_table(theirs, run(), {**DECODING, "beam": 1}).to_html()
    assert page.count("<tr>") == len(theirs.settings) + 1
    assert ">0.003<" in page
    assert "00000" not in page
    alone = translation.setting_table(theirs).to_html()
    assert f">{theirs.settings['peak rate']}<" in alone
    assert "ours" not in alone


def test_flops_hardly_depend_on_the_length_and_grow_with_the_tokens(run):
    short, long = (recorded_runs.run_flops(run(), length=n) for n in (10, 20))
    assert long == pytest.approx(short, rel=0.2)
    more = run()
    more["curve"][-1]["tokens"] *= 2
    ours, twice = (recorded_runs.run_flops(one) for one in (run(), more))
    assert twice == pytest.approx(2 * ours)


def test_r_drop_costs_two_passes(run):
    plain, dropped = (run(training={"r_drop": weight}) for weight in (0.0, 5.0))
    assert recorded_runs.run_flops(dropped) == 2 * recorded_runs.run_flops(plain)


def test_parameters_are_those_of_the_model(run):
    config = TransformerConfig.from_dict(run()["settings"]["model"])
    assert recorded_runs.n_parameters(run()) == Transformer(config).n_parameters
