"""Every Multi30k record is made again by one command, which does only what is missing."""

import json
import shlex
from pathlib import Path

import pytest
import run_multi30k as tool

from transformer.cli.parser import make_parser
from transformer.cli.plan import make_plan
from walkthrough.page.results import recorded

HEADER = "update,epoch,loss,rate,gradient_norm,tokens,tokens_per_second,seconds,valid_perplexity\n"


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """The commands that were run; a training writes a run folder, a measurement a result."""
    commands = []

    def run(words):
        commands.append(shlex.join(words))
        args = make_parser().parse_args(words[words.index("transformer") + 1 :])
        if "train" in words:
            folder = Path(args.folder)
            folder.mkdir(parents=True)
            settings = {"max_updates": 20, "seed": 7}
            text = {"data": {"folder": "/data/multi30k"}, "model": {}, "training": settings}
            (folder / "settings.json").write_text(json.dumps(text))
            (folder / "log.csv").write_text(HEADER + "20,1,2.5,0.1,1.0,200,50.0,4.0,9.1\n")
            (folder / "results.json").write_text(json.dumps({"training": [{}]}))
            return
        found = tool.results_of(Path(args.model))
        score = {name: getattr(args, name) for name in ("split", "beam", "alpha", "average")}
        bleu = 40 - abs(args.alpha - 1.0)  # best at 1.0
        found.setdefault("evaluation", []).append({**score, "bleu": bleu})
        (Path(args.model) / "results.json").write_text(json.dumps(found))

    monkeypatch.setattr(tool, "run", run)
    return commands


def test_it_trains_measures_chooses_alpha_on_validation_and_records(asked, tmp_path):
    words = ["multi30k-de-en", "--folder", str(tmp_path / "runs"), "--output", str(tmp_path)]
    assert tool.main(words) == 0
    assert "train" in asked[0]
    assert "--set data.source_language=de" in asked[0]
    assert asked[0].endswith(" --resume=auto"), "an interrupted run goes on"
    assert len(asked) == 1 + 3 + 4
    assert asked[-1].endswith("--split=test_2016_flickr --average=5 --beam=5 --alpha=1.0")
    (run,) = json.loads((tmp_path / "multi30k-de-en.json").read_text())["runs"]
    assert run["name"] == "de-en-1"
    assert run["settings"]["data"]["folder"] is None
    assert len(run["evaluation"]) == 7
    asked.clear()
    assert tool.main(words) == 0
    assert asked == []  # nothing is missing


def test_two_processes_start_with_torchrun(asked, tmp_path):
    tool.train(tmp_path / "runs" / "x", tool.RECORDS["multi30k-en-de"]["en-de-12-minutes"])
    assert asked[0].startswith("-m torch.distributed.run --standalone --nproc-per-node=2 ")


@pytest.mark.parametrize("name", sorted(tool.RECORDS))
def test_every_recorded_run_has_its_recipe(name):
    for run in recorded(name)["runs"]:
        assert run["name"] in tool.RECORDS[name]
        settings = run["settings"]["training"]
        options = tool.RECORDS[name][run["name"]].options
        assert f"--seed {settings['seed']}" in options
        if "--max-updates" in options:
            assert f"--max-updates {settings['max_updates']}" in options


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["multi30k"], "no record multi30k"),
        (["--only", "en-de-1"], "--only needs the name of one record"),
        (["multi30k-de-en", "--only", "en-de-1"], "no run en-de-1: choose from de-en-1"),
    ],
)
def test_names_it_does_not_know_are_refused(words, message, capsys):
    with pytest.raises(SystemExit) as stop:
        tool.parsed(words)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


def test_the_preset_is_what_the_recorded_run_was_made_with():
    """`--preset multi30k-tiny` and nothing else gives the first run of the record again."""
    first = recorded("multi30k-en-de")["runs"][0]
    plan = make_plan("multi30k-tiny", None)
    for section, settings in (("data", plan.data), ("training", plan.training)):
        now = {name: getattr(settings, name) for name in first["settings"][section]}
        then = first["settings"][section]
        told = {"seed", "threads", "folder"}  # by the command line, or where the corpus lay
        assert {k: v for k, v in now.items() if v != then[k]}.keys() <= told
    for name, value in plan.model.items():
        assert first["settings"]["model"][name] == value
