"""Files with one slip: the part and the block are named. Right ones in other styles pass."""

import pytest
from broken import MORE, text
from styles import STYLES

from walkthrough.capstone import check, judging
from walkthrough.capstone.slips import SLIPS, text_of
from walkthrough.capstone.stubs import STUBS
from walkthrough.checking import Verdict

IGNORED = pytest.mark.filterwarnings("ignore::UserWarning")  # torch's, about its own modules


def checked(tmp_path, content):
    path = tmp_path / "mine.py"
    path.write_text(content, encoding="utf-8")
    return check(path, doctor=False)


@pytest.fixture
def judging_only(monkeypatch):
    """Judge these parts only: all others are the right file's, which `test_check` judges."""
    real = judging.judge

    def only(*parts):
        def judge(part, made, mapping=None):
            return real(part, made, mapping) if part in parts else Verdict("right", "as it was")

        monkeypatch.setattr(judging, "judge", judge)

    return only


def wrong_parts(result):
    return [name for name, part in result.parts.items() if part.status == "wrong"]


@IGNORED
@pytest.mark.parametrize("style", STYLES)
def test_a_right_file_of_another_style_passes(tmp_path, style):
    result = checked(tmp_path, STYLES[style])
    assert not result.wrong, str(result)
    assert result.walk.agrees
    assert result.walk.sure
    assert result.translation == "Jane visits Africa in September."
    assert "whole file" not in style or "Not found by the skeleton's names" in str(result)


@pytest.mark.parametrize("slip", SLIPS[::3], ids=lambda slip: slip.name)
def test_a_listed_slip_is_named_with_its_part_and_what_it_forgets(tmp_path, judging_only, slip):
    judging_only(slip.part, "Transformer")
    result = checked(tmp_path, text_of(slip))
    assert wrong_parts(result) == [slip.part], str(result)
    assert result.wrong
    first = None if result.walk is None else result.walk.first
    if first is not None and first.difference < 1e9:  # NaN tells nothing of its cause
        assert f"`{slip.part}` forgets" in result.walk.cause


@pytest.mark.parametrize("name", MORE)
def test_another_slip_is_named_by_its_part_and_the_first_block(tmp_path, judging_only, name):
    part, right, wrong, block = MORE[name]
    judging_only(part, "Transformer")
    result = checked(tmp_path, text(part, right, wrong))
    assert wrong_parts(result) == [part], str(result)
    assert result.wrong
    if block == "stops":
        assert "The model stops with RuntimeError in line" in str(result)
    else:
        assert (result.walk.first and result.walk.first.name) == block, str(result)


def test_every_slip_stands_once_in_its_part():
    assert {slip.part for slip in SLIPS} <= {part for stub in STUBS for part in stub.parts}
    assert len({(slip.part, slip.name) for slip in SLIPS}) == len(SLIPS)
    assert all(text_of(slip) for slip in SLIPS)


def test_a_mapping_of_names_places_what_nothing_else_can(tmp_path):
    names = {"query_proj": "one", "key_proj": "two", "value_proj": "three", "output_proj": "four"}
    content = STYLES["torch's layer norm"].replace(
        "self.drop, self.norm = nn.Dropout(dropout), nn.LayerNorm(d_model)",
        "self.drop, self.norm = nn.Dropout(dropout), nn.LayerNorm(d_model)\n"
        "        self.unused = nn.Parameter(torch.ones(3))",
    )
    for old, new in names.items():
        content = content.replace(old, new)
    result = checked(tmp_path, content)
    assert "WEIGHTS = {" in str(result)
    content = (
        STYLES["other names"]
        + "\nWEIGHTS = "
        + repr(
            {
                "query_proj": "w_q",
                "key_proj": "w_k",
                "value_proj": "w_v",
                "output_proj": "fc",
                "expand": "w_1",
                "contract": "w_2",
                "embedding": "words",
                "residuals": "sublayers",
                "self_attention": "attn",
                "cross_attention": "src_attn",
                "encoder": "enc_layers",
                "decoder": "dec_layers",
                "gain": "a",
            }
        )
    )
    result = checked(tmp_path, content)
    assert not result.wrong, str(result)
    assert result.walk.placed == "by your mapping"
