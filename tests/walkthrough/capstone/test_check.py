"""`check` in any order, its words, and what it does with files that are not right Python."""

import json

import pytest
from styles import RIGHT, exchanged

from walkthrough.capstone import NoModelError, check, new
from walkthrough.capstone.slips import SOLUTION
from walkthrough.capstone.stubs import PARTS, STUBS
from walkthrough.capstone.template import SKELETON
from walkthrough.checking import running
from walkthrough.doctor.report import SITE

UNWRITTEN = SKELETON.read_text(encoding="utf-8")


def only(*names):
    """Return the skeleton with these parts written."""
    text = UNWRITTEN
    for name in names:
        for kind in ("def", "class"):
            start, own = text.find(f"\n{kind} {name}("), RIGHT.find(f"\n{kind} {name}(")
            if start >= 0:
                written = RIGHT[own : RIGHT.find("\n\n\n", own)]
                text = text[:start] + written + text[text.find("\n\n\n", start) :]
    return text


@pytest.fixture
def checked(tmp_path):
    def run(content):
        path = tmp_path / "mine.py"
        path.write_text(content, encoding="utf-8")
        return check(path, doctor=False)

    return run


def test_the_right_file_passes_whole_with_the_doctor():
    result = check(SOLUTION)
    assert not result.wrong, str(result)
    assert result.next is None
    assert result.doctor.bugs == result.doctor.departures == []
    assert "Jane visits Africa in September." in str(result)
    assert "All ten are right" in str(result)
    told = json.loads(json.dumps(result.to_dict()))
    assert [stub["status"] for stub in told["stubs"]] == ["right"] * 10
    assert told["walk"]["agrees"]


def test_the_doctor_knows_a_norm_that_a_function_makes(tmp_path):
    post = "layer_norm(x + self.dropout(sublayer(x)), self.gain, self.bias, 1e-5)"
    pre = "x + self.dropout(sublayer(layer_norm(x, self.gain, self.bias, 1e-5)))"
    assert post in RIGHT
    path = tmp_path / "mine.py"
    path.write_text(RIGHT.replace(post, pre), encoding="utf-8")
    said = check(path).doctor.departures
    assert [one.name for one in said if one.name == "residual"] == []


def test_the_skeleton_has_nothing_wrong_and_begins_with_the_first_stub(checked):
    result = checked(UNWRITTEN)
    assert not result.wrong
    assert {part.verdict.status for part in result.parts.values()} == {"nothing yet"}
    assert result.next is STUBS[0]
    assert result.walk is None


@pytest.mark.parametrize("name", PARTS[:-1])
def test_a_stub_is_judged_in_any_order(checked, name):
    result = checked(only(name))
    assert result.parts[name].verdict, str(result)
    assert not result.wrong


def test_a_part_that_uses_a_wrong_one_is_not_called_wrong(checked):
    result = checked(exchanged((" / math.sqrt(query.shape[-1])", "")))
    wrong = [name for name, part in result.parts.items() if part.status == "wrong"]
    assert wrong == ["scaled_dot_product_attention"]
    assert result.parts["EncoderLayer"].without == ("scaled_dot_product_attention",)
    assert "encoder layer 1, self-attention" in str(result)
    assert "forgets to divide the scores by √d_k" in str(result)
    assert "✗" in result._repr_html_()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("return self.contract(torch.relu(self.expand(x)))", "self.contract(x)", "FeedForward"),
        ("(merge_heads(heads))", "(merge_head(heads))", "stops with NameError"),
        (
            "return heads.transpose(1, 2).flatten(-2)",
            "heads.transpose(1, 2).flatten(-2)",
            "is a `return` missing?",
        ),
        (
            "return self.output_proj(merge_heads(heads))",
            "return self.output_proj(merge_heads(heads))[:, :1]",
            "MultiHeadAttention",
        ),
        ("import math\n", "import math\nimport no_such_package\n", "No module named"),
        (
            "self.expand = nn.Linear(d_model, d_ff)",
            "self.expand = nn.Linear(d_model, d_ff, bias=False)",
            "there is no `expand.bias`",
        ),
    ],
)
def test_what_a_file_does_wrong_is_said_in_words(checked, old, new, words):
    assert words in str(checked(exchanged((old, new))))


def test_a_loop_without_an_end_is_told_and_what_calls_it_is_not_called(checked, monkeypatch):
    monkeypatch.setattr(running, "SECONDS", 0.3)
    loops = "    while True:\n        length += 1\n    position = torch"
    result = checked(exchanged(("    position = torch", loops)))
    assert result.parts["positional_encoding"].status == "wrong"
    assert "a loop without an end?" in str(result)
    assert "The whole model is not called" in str(result)


def test_projections_without_biases_cannot_be_told_and_are_not_called_wrong(checked):
    text = RIGHT.replace("nn.Linear(d_model, d_model)", "nn.Linear(d_model, d_model, bias=False)")
    result = checked(text)
    assert result.parts["MultiHeadAttention"].status == "cannot tell"
    assert not result.wrong, str(result)
    assert "have a bias with each matrix" in str(result)


def test_a_file_that_is_no_python_is_told(tmp_path):
    with pytest.raises(NoModelError, match=r"is not there.*capstone new"):
        check(tmp_path / "missing.py")
    (tmp_path / "broken.py").write_text("def f(:\n", encoding="utf-8")
    with pytest.raises(NoModelError, match=r"SyntaxError.*line 1"):
        check(tmp_path / "broken.py")
    with pytest.raises(NoModelError, match="is a folder"):
        check(tmp_path)


def test_the_skeleton_is_written_once_with_links_and_without_a_trace_of_the_package(tmp_path):
    path = new(tmp_path / "my_transformer.py")
    text = path.read_text(encoding="utf-8")
    assert text.count(SITE) == 11
    assert "{site}" not in text
    imports = [line for line in text.splitlines() if line.startswith(("import", "from"))]
    assert all("torch" in line or line == "import math" for line in imports)
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(FileExistsError, match="left as it is"):
        new(path)
    assert path.read_text(encoding="utf-8") == "mine"
    with pytest.raises(FileNotFoundError, match="folder"):
        new(tmp_path / "nowhere" / "mine.py")


def test_a_notebook_hands_over_its_names():
    names = {"__name__": "__main__"}
    exec(compile(RIGHT, "<cell>", "exec"), names)
    result = check(names, doctor=False)
    assert not result.wrong, str(result)
    assert result.file == "this notebook"


def test_every_stub_has_its_page_in_the_skeleton():
    for stub in STUBS:
        assert f"# {{site}}{stub.page}\n" in UNWRITTEN
        assert f"# {stub.number} · " in UNWRITTEN
