"""The experiment of chapter 16 looks at no test set too early, and at none twice."""

import json
import shlex
import shutil
from pathlib import Path

import pytest
import run_recipe as tool

from transformer.cli.parser import make_parser
from transformer.cli.plan import make_plan
from transformer.data.corpus import Corpus

HEADER = "update,epoch,loss,rate,gradient_norm,tokens,tokens_per_second,seconds,valid_perplexity\n"
REFERENCE = ("ein Hund läuft über das Gras .", "zwei Männer sehen ihn an .")
ROWS = {
    "recipe": tool.Row("--max-updates 20", seeds=(1, 2)),
    "paper": tool.Row("--max-updates 20", decoding=tool.Decoding(4, 0.6, 5)),
    "back": tool.Row("--max-updates 20", ("de", "en"), (1,), tests=("test_2016_flickr",)),
}


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """The commands that were run: training writes a run folder, measuring a result."""
    commands = []

    def run(words):
        commands.append(shlex.join(words))
        args = make_parser().parse_args(words[words.index("transformer") + 1 :])
        folder = Path(args.folder if "train" in words else args.model)
        if "train" in words:
            folder.mkdir(parents=True)
            text = {"data": {}, "model": {}, "training": {"max_updates": 20, "seed": args.seed}}
            (folder / "settings.json").write_text(json.dumps(text))
            (folder / "log.csv").write_text(HEADER + "20,1,2.5,0.1,1.0,200,50.0,4.0,9.1\n")
            (folder / "results.json").write_text(json.dumps({"training": [{}]}))
            return
        found = tool.results_of(folder)
        score = {name: getattr(args, name) for name in ("split", "beam", "alpha", "average")}
        bleu = 40 - abs(args.alpha - best["alpha"]) - abs(args.average - best["average"]) / 100
        found.setdefault("evaluation", []).append({**score, "bleu": bleu})
        (folder / "results.json").write_text(json.dumps(found))
        if args.output:
            Path(args.output).write_text("\n".join(REFERENCE) + "\n", encoding="utf-8")

    best = {"alpha": 1.4, "average": 10}
    monkeypatch.setattr(tool, "run", run)
    monkeypatch.setattr("run_multi30k.run", run)
    monkeypatch.setattr(tool, "ROWS", ROWS)
    monkeypatch.setattr(tool, "SCREENS", {"screen": "--seed 1 --max-updates 20"})
    monkeypatch.setattr(tool, "RECORD", tmp_path / "record.json")
    monkeypatch.setattr(tool, "SCREENED", tmp_path / "screens.json")
    monkeypatch.setattr(tool, "committed", dict)
    monkeypatch.setattr(tool, "open_model", lambda args: (Path(args.model).name, args.average))
    monkeypatch.setattr(tool, "translated", lambda *model, **decoding: [[*model, decoding]])
    corpus = Corpus(
        name="multi30k",
        source_language="en",
        target_language="de",
        split="test",
        source=REFERENCE,
        target=REFERENCE,
    )
    monkeypatch.setattr(tool.Corpus, "from_multi30k", lambda *_, **__: corpus)
    commands_and_best = commands, best
    return commands_and_best


def steps(tmp_path, *words):
    return tool.main([*words, "--folder", str(tmp_path / "runs")])


def test_every_option_is_one_that_training_takes():
    for recipe in [*map(tool.Recipe, tool.SCREENS.values()), *tool.all_runs().values()]:
        words = [
            "train",
            "--preset",
            "multi30k-tiny",
            "--folder",
            "x",
            *shlex.split(recipe.options),
        ]
        args = make_parser().parse_args(words)
        plan = make_plan(args.preset, None, args.set)
        assert args.seed
        assert plan.data.corpus == "multi30k"


def test_candidates_are_scored_on_validation_alone(asked, tmp_path):
    steps(tmp_path, "screen")
    commands, _ = asked
    assert "train" in commands[0]
    assert len(commands) == 4
    assert all("--split=val" in command for command in commands[1:])
    assert [run["name"] for run in tool.recorded(tool.SCREENED)["runs"]] == ["screen"]
    assert not tool.RECORD.exists()
    shutil.rmtree(tmp_path / "runs")
    tool.screen(tmp_path / "runs", ["nothing"])
    assert [run["name"] for run in tool.recorded(tool.SCREENED)["runs"]] == ["screen"]


def test_decoding_is_chosen_by_the_first_seed(asked, tmp_path):
    steps(tmp_path, "train", "choose")
    tried = [command for command in asked[0] if "evaluate" in command]
    assert {Path(shlex.split(command)[3]).name for command in tried} == {"recipe-1", "back-1"}
    chosen = json.loads(tool.RECORD.read_text())["decoding"]
    assert chosen["recipe"] == {"beam": 5, "alpha": 1.4, "average": 10}
    assert chosen["paper"] == {"beam": 4, "alpha": 0.6, "average": 5}  # prescribed, not chosen
    assert json.loads(tool.RECORD.read_text())["looks"] == 0


def test_the_edge_of_the_grid_is_refused(asked, tmp_path):
    asked[1]["alpha"] = 9.0
    with pytest.raises(ValueError, match=r"recipe: the best α is 2\.6, the edge of"):
        steps(tmp_path, "train", "choose")


def test_the_longest_mean_is_refused(asked, tmp_path):
    asked[1]["average"] = 40
    with pytest.raises(ValueError, match="recipe: the best mean is the longest of"):
        steps(tmp_path, "train", "choose")


def test_a_curve_takes_the_first_seed_of_a_row_and_each_point_once(asked, tmp_path, monkeypatch):
    seen = []

    def measured(checkpoint, split, decoding, languages):
        assert (split, decoding.average, languages) == ("val", 1, ("en", "de"))
        seen.append(checkpoint.relative_to(tmp_path / "runs").as_posix())
        return {"bleu": int(checkpoint.stem) / 100}

    monkeypatch.setattr(tool, "measured", measured)
    for name in ("recipe-1", "recipe-2"):
        checkpoints = tmp_path / "runs" / name / "checkpoints"
        checkpoints.mkdir(parents=True)
        for update in (500, 1000, 1500, 2000):
            (checkpoints / f"{update:06d}.safetensors").touch()
    steps(tmp_path, "curve")
    steps(tmp_path, "curve")
    assert seen == [f"recipe-1/checkpoints/{update:06d}.safetensors" for update in (1000, 2000)]
    curve = json.loads(tool.RECORD.read_text())["curves"]["recipe-1"]
    assert curve == [{"update": 1000, "bleu": 10.0}, {"update": 2000, "bleu": 20.0}]
    assert not asked[0]


def test_our_captions_are_translated_once_as_the_recipe_was_chosen_to_decode(asked, tmp_path):
    steps(tmp_path, "train", "captions")
    assert "captions" not in tool.recorded()  # nothing is chosen yet
    steps(tmp_path, "choose", "captions")
    found = tool.recorded()["captions"]
    assert found["sentences"] == [["recipe-1", 10, {"beam": 5, "alpha": 1.4}]]
    assert found["run"] == "recipe-1"
    shutil.rmtree(tmp_path / "runs")
    steps(tmp_path, "captions")
    assert tool.recorded()["captions"] == found
    assert not any("--split=test" in command for command in asked[0])


def test_no_test_set_before_the_decoding_is_committed(asked, tmp_path, monkeypatch):
    steps(tmp_path, "test")  # nothing is trained, so nothing is tested
    steps(tmp_path, "train", "--only", "recipe-1", "paper-1")
    with pytest.raises(ValueError, match=r"no decoding is chosen for \['recipe', 'paper'\]"):
        steps(tmp_path, "test")
    steps(tmp_path, "choose")
    assert tool.recorded()["decoding"].keys() == {"recipe", "paper"}  # of what is trained
    with pytest.raises(ValueError, match=r"commit record\.json with the decoding of \['recipe'"):
        steps(tmp_path, "test")
    other = {"decoding": {**tool.recorded()["decoding"], "recipe": {"beam": 5, "alpha": 0.6}}}
    monkeypatch.setattr(tool, "committed", lambda: other)
    with pytest.raises(ValueError, match=r"commit record\.json"):
        steps(tmp_path, "test")
    assert not any("--split=test" in command for command in asked[0])


def test_each_run_looks_once_at_each_test_set(asked, tmp_path, monkeypatch):
    steps(tmp_path, "train", "choose")
    monkeypatch.setattr(tool, "committed", tool.recorded)
    steps(tmp_path, "test")
    record = json.loads(tool.RECORD.read_text())
    assert record["looks"] == 2 * 3 + 3 * 3 + 1
    for run in record["runs"]:
        greedy = [e for e in run["evaluation"] if e["beam"] == 1]
        assert [e["split"] for e in greedy] == ["val"]
        chosen = tool.Decoding(**record["decoding"][run["name"].rsplit("-", 1)[0]])
        assert greedy[0]["average"] == chosen.average
        assert tool._found(tmp_path / "runs" / run["name"], "val", chosen)
    pairs = {(found["ours"], found["theirs"]) for found in record["differences"]}
    assert pairs == {("recipe", "paper")}  # the other direction is no comparison
    assert record["differences"][0]["measured"] == 0
    n_commands = len(asked[0])
    assert steps(tmp_path) == 0  # all steps again: only the candidates are missing
    assert len(asked[0]) == n_commands + 4


def test_runs_made_at_another_time_are_compared_and_not_made_again(asked, tmp_path, monkeypatch):
    monkeypatch.setattr(tool, "committed", tool.recorded)
    for name in ("recipe-1", "paper-1", "recipe-2", "paper-2", "paper-3"):
        assert not tool.recorded().get("differences")  # while a row lacks a seed
        steps(tmp_path, "train", "--only", name)
        steps(tmp_path, "choose")
        steps(tmp_path, "test")
        shutil.rmtree(tmp_path / "runs")
    record = json.loads(tool.RECORD.read_text())
    assert record["looks"] == 5 * 3
    assert [(found["ours"], found["theirs"]) for found in record["differences"]] == [
        ("recipe", "paper")
    ] * 3
    counts = record["runs"][0]["counts"]["test_2016_flickr"]
    assert counts[0] == [7, 7, 7, 6, 5, 4, 7, 6, 5, 4]  # every word is right
    n_commands = len(asked[0])
    steps(tmp_path, "train", "--only", "recipe-1", "paper-2")
    assert len(asked[0]) == n_commands


def test_rows_that_differ_are_told_apart(asked, tmp_path, monkeypatch):
    monkeypatch.setattr(tool, "committed", tool.recorded)
    steps(tmp_path, "train", "choose", "test")
    runs = tool.recorded()["runs"]
    for run in runs:
        if run["name"].startswith("paper"):
            run["counts"] = {s: [[5, 7, 5, 3, 2, 1, 5, 4, 3, 2]] * 2 for s in run["counts"]}
    assert all(found["low"] > 0 for found in tool.differences(runs))


def test_wrong_words_are_refused(capsys):
    for words in (["tset"], ["train", "--only", "nobody"]):
        with pytest.raises(SystemExit):
            tool.parsed(words)
        assert "choose from" in capsys.readouterr().err
