"""`check` in any order, its words, and what it does with files that are not right Python."""

import json
import re

import pytest
from styles import RIGHT, exchanged

from walkthrough.capstone import NoModelError, check, new
from walkthrough.capstone.slips import SOLUTION
from walkthrough.capstone.stubs import PARTS, STUBS, skeleton
from walkthrough.checking import running
from walkthrough.doctor.report import SITE

UNWRITTEN = skeleton()


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
    assert str(result).splitlines()[-1].startswith("All ten are right. Next:")
    assert len(str(result).splitlines()) < 20
    whole = result.text(everything=True).splitlines()
    assert any(line.startswith("Looked for: ") for line in whole)
    assert whole[-1].startswith("All ten are right. Next:")
    assert "`step`" not in "".join(whole)
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


def test_dropout_in_another_place_is_one_line_of_the_doctors_and_none_of_the_checks(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(exchanged(("x + self.dropout(sublayer(x))", "self.dropout(x + sublayer(x))")))
    result = check(path)
    said = [one.sentence for one in result.doctor.departures if one.name == "dropout"]
    assert said == [
        "Dropout stands on the sum around a sub-layer (10 times), and not on a sub-layer's output."
    ]
    assert said[0] not in str(result)
    assert "departures from the paper 1" in str(result)
    assert str(result).splitlines()[-1].startswith("Next: 7 Residual connection")


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


@pytest.mark.parametrize(
    ("old", "new", "stub", "words"),
    [
        (" / math.sqrt(d_model))", ")", 5, "standard deviation 1, and d_model^−0.5 is 0.088"),
        ("torch.ones(d_model)", "torch.zeros(d_model)", 7, "`gain` begins at 1"),
        ("x + self.dropout(sublayer(x))", "self.dropout(x + sublayer(x))", 7, "x is dropped as"),
        ("self.dropout(sublayer(x))", "sublayer(x)", 7, "here nothing is dropped"),
        ("x + self.dropout(sublayer(x))", "self.dropout(x) + sublayer(x)", 7, "nearly all that"),
        ("nn.Dropout(dropout)\n\n", "nn.Dropout(0.1)\n\n", 7, "with dropout 0.99"),
        ("self.dropout(x + positional_encoding(*x.shape[1:]))",
         "x + positional_encoding(*x.shape[1:])", 10, "0 % of the numbers that enter the encoder"),
        ("self.dropout(x + positional", "self.dropout(x) + (positional", 10, "4 % of the numbers"),
    ],
)  # fmt: skip
def test_a_start_and_a_dropout_that_the_stub_does_not_ask_for_are_told(
    checked, old, new, stub, words
):
    result = checked(exchanged((old, new)))
    assert [s.number for s in STUBS if result.status(s) == "wrong"] == [stub], str(result)
    assert words in str(result)
    assert "All ten" not in str(result)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[EncoderLayer(*sizes) for _ in range(n_layers)]", "[EncoderLayer(*sizes)] * n_layers",
         "`encoder.1` is the same `EncoderLayer` as `encoder.0`"),
        ("nn.ModuleList([DecoderLayer(*sizes) for _ in range(n_layers)])",
         "[DecoderLayer(*sizes) for _ in range(n_layers)]",
         "`self.decoder` of `Transformer` is a plain list"),
        ("nn.ModuleList([ResidualNorm(d_model, dropout) for _ in range(2)])",
         "[ResidualNorm(d_model, dropout) for _ in range(2)]",
         "`self.residuals` of `EncoderLayer` is a plain list"),
    ],
)  # fmt: skip
def test_layers_that_no_weights_reach_are_told_once_and_no_table_is_asked_for(
    checked, old, new, words
):
    said = str(checked(exchanged((old, new))))
    assert said.count(words) == 1
    assert "09-encoder-and-decoder.html#what-goes-wrong" in said
    assert "WEIGHTS" not in said


def test_a_crash_has_its_line_as_it_stands_now_and_the_line_that_called(checked):
    calls = RIGHT[: RIGHT.index("x = self.embed(source)")].count("\n") + 1
    for name in ("one", "other"):  # the second time the file has changed
        said = str(checked(exchanged(("dropout(x + positional", f"dropout({name} + positional"))))
        assert (
            f"dropout({name} + positional_encoding(*x.shape[1:]))`), called from line {calls}:"
            in said
        )
    said = str(checked(exchanged(("x = layer(x, source_mask)", "x = layer(x, mask)"))))
    assert "stops with NameError in line" in said
    assert "x = layer(x, mask)" in said
    assert "kinds.py" not in said
    assert "examine(" not in said


def test_a_mistake_is_told_by_the_names_and_in_the_place_of_the_file(checked):
    said = str(checked(exchanged(("[:, None, None, :]", "[:, None, :, None]"))))
    assert "decoding_mask" not in said
    assert "is right" not in said
    said = str(checked(exchanged(("embedding.project(y)", "embedding.project(y).softmax(-1)"))))
    assert "where the model forgets that the loss and the search want logits" in said
    assert "`TokenEmbedding`" not in said
    assert "`Transformer`: the first block that parts is the output: logits" in said
    assert "none of the" not in said


def test_of_a_stub_that_is_half_written_the_rest_is_named(checked):
    result = checked(only("split_heads"))
    assert "Not written yet: `merge_heads`, `MultiHeadAttention`." in str(result)
    text = exchanged(("return states @ self.weight.T", "raise NotImplementedError"))
    assert "Not written yet: `TokenEmbedding.project`." in str(checked(text))
    assert "Not written" not in str(checked(UNWRITTEN))


@pytest.mark.parametrize(
    ("body", "name", "stub"),
    [("return self.contract(torch.relu(self.expand(x)))", "FeedForward.forward", 4),
     ("return (tokens != PAD)[:, None, None, :]", "padding_mask", 2),
     ("return self.residuals[1](x, self.feed_forward)", None, 8)],
)  # fmt: skip
@pytest.mark.parametrize("idle", ["pass", "..."])
def test_a_function_of_pass_is_not_written_and_one_that_loses_its_result_is_wrong(
    checked, body, name, stub, idle
):
    result = checked(exchanged((body, idle)))
    status, _, said = result.lines()[stub - 1]
    assert status == ("nothing yet" if name else "wrong")
    assert (said == f"Not written yet: `{name}`.") if name else ("is a `return` missing?" in said)
    assert "cannot be loaded" not in str(result)


DRAWN = "        self.dropout = nn.Dropout(dropout)\n        self.encoder"
AGAIN = "        nn.init.normal_(self.embedding.weight, std={})\n" + DRAWN


def test_an_embedding_that_the_model_draws_again_is_judged_by_what_the_model_has(checked):
    alone = (" / math.sqrt(d_model))", ")")
    result = checked(exchanged(alone, (DRAWN, AGAIN.format("d_model**-0.5"))))
    assert not result.wrong, str(result)
    assert "`Transformer` draws it again, with standard deviation 0.0" in result.lines()[4][2]
    assert "All ten are right" in str(result)
    result = checked(exchanged((DRAWN, AGAIN.format("1.0"))))
    assert [stub.number for stub in STUBS if result.status(stub) == "wrong"] == [10]
    assert "your embedding starts right, and the model draws it again" in str(result)
    assert "it has standard deviation 1, and d_model^−0.5 is 0.088" in str(result)


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
    assert text.count("    raise NotImplementedError\n") == 23
    assert not re.search(r"\b(unflatten|masked_fill|def embed)\b", text)  # of the solution
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


def test_the_skeleton_has_ten_stubs_and_every_part_stands_in_one():
    assert [stub.number for stub in STUBS] == list(range(1, 11))
    assert len(PARTS) == 14
    assert STUBS[6].section == "3.1, 5.4"
    assert STUBS[6].parts == ("layer_norm", "ResidualNorm")
    assert STUBS[9].page == "09-encoder-and-decoder.html#two-stacks"
