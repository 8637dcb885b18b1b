"""Runs of the command line: the words that make them, what is measured once, a look at a test."""

import json
import subprocess
from dataclasses import replace

import pytest

from transformer.training.history import History, Record
from walkthrough.lab import Arm, Experiment, Job, Key, hooks, run, store
from walkthrough.lab.hooks import Decoding, command_line, evaluated, look

BEAM = Decoding(beam=2)
PER_TOKEN = Decoding(beam=2, alpha=None)
REFERENCE = ["Jane visits Africa .", "Jane sleeps ."]


def experiment(folder, **changes):
    told = {
        "name": "16-toy",
        "question": "Is wide better?",
        "task": replace(command_line("multi30k-tiny", "model.dropout=0.2"), folder=folder),
        "arms": [Arm("base"), Arm("wide, twice", model={"d_ff": 64}, train={"processes": 2})],
        "base": "base",
        "seeds": (1, 2),
        "lengths": (100,),
    }
    return Experiment(**{**told, **changes})


def job(e, arm, **key):
    return Job(e, e.arm(arm), Key(arm, **{"length": 100, "seed": 1, **key}), False)


@pytest.fixture
def asked(monkeypatch):
    """What would have been run; a training leaves a folder, an evaluation its results."""
    said = []

    def python(*words):
        said.append(words)
        if "--folder" in words:
            folder = hooks.Path(words[-1])
            folder.mkdir(parents=True)
            (folder / "results.json").write_text(json.dumps({"training": {"updates": 100}}))
            (folder / "settings.json").write_text(json.dumps({"data": {"corpus": "phrasebook"}}))
            row = {"epoch": 1, "rate": 0.1, "gradient_norm": 1.0, "tokens_per_second": 9.0}
            rows = [
                Record(update=100, loss=1.5, tokens=7, seconds=1.0, valid_perplexity=4.5, **row)
            ]
            History(rows).write(folder / "log.csv")
        else:
            folder, told = hooks.Path(words[3]), dict(w.split("=") for w in words if "=" in w)
            results = json.loads((folder / "results.json").read_text())
            beam, alpha = int(told["--beam"]), told["--alpha"]
            one = {"split": told["--split"], "beam": beam, "average": int(told["--average"])}
            one |= {"alpha": None if alpha == "mean" else float(alpha)}
            one |= {"bleu": 10.0 * beam - (alpha == "mean")}
            results.setdefault("evaluation", []).append(one)
            (folder / "results.json").write_text(json.dumps(results))
            hooks.Path(told["--output"]).write_text("\n".join(REFERENCE))

    monkeypatch.setattr(hooks, "_python", python)
    corpus = type("Corpus", (), {"target": REFERENCE, "bleu_tokenizer": "none"})
    monkeypatch.setattr(hooks, "load_corpus", lambda *what, progress: None if progress else corpus)
    return said


def test_a_command_says_preset_changes_arm_rate_and_seed(tmp_path):
    e = experiment(tmp_path)
    words = e.task.command(job(e, "wide, twice"))
    assert words[:4] == ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    assert " ".join(words).count("--preset multi30k-tiny") == 1
    changes = "--set model.dropout=0.2 --set model.d_ff=64 --set training.warmup=50"
    for said in (changes, "--seed 1", "--max-updates 100"):
        assert said in " ".join(words)
    peaks = [
        float(one.removeprefix("training.peak="))
        for rate in (1.0, 0.5)
        for one in e.task.command(job(e, "base", rate=rate))
        if one.startswith("training.peak=")
    ]
    assert peaks[1] == pytest.approx(peaks[0] / 2)
    assert "torch.distributed.run" not in e.task.command(job(e, "base"))
    assert "--resume" not in words


def test_a_run_is_trained_once_and_an_interrupted_one_goes_on(tmp_path, asked):
    e = experiment(tmp_path)
    trained = e.task.train(job(e, "wide, twice"))
    assert trained.model == tmp_path / "16-toy" / "wide-twice-1-100-1"
    assert trained.curve == [(100, "train/-/loss", 1.5), (100, "valid/-/perplexity", 4.5)]
    assert trained.target_tokens == 7
    e.task.train(job(e, "wide, twice"))
    assert len(asked) == 1
    (trained.model / "results.json").unlink()
    assert e.task.command(job(e, "wide, twice"))[-1] == "--resume"
    with pytest.raises(FileNotFoundError, match="holds no finished run"):
        e.task.opened(e, Key("base", length=100, seed=1))


def test_a_trial_of_an_arm_that_says_its_own_length_is_refused(tmp_path, asked):
    e = experiment(tmp_path, lengths=(0,))
    with pytest.raises(ValueError, match="say the length, as in --lengths 20"):
        e.task.train(job(e, "base", length=0)._replace(small=True))
    assert e.task.train(job(e, "base", length=20)._replace(small=True)).target_tokens == 7


def test_each_decoding_is_measured_once(tmp_path, asked):
    e = experiment(tmp_path)
    measure = evaluated("val", (Decoding(), BEAM, PER_TOKEN), scores=("bleu",))
    names = ("val/greedy/bleu", "val/beam2-a0.6/bleu", "val/beam2-per-token/bleu")
    assert measure.figures == names
    trained = e.task.train(job(e, "base"))
    found = measure.of(job(e, "base"), trained)
    assert found.figures == dict(zip(names, (10.0, 20.0, 19.0), strict=True))
    assert found.counts["val/greedy/bleu"].shape == (2, 10)
    assert measure.of(job(e, "base"), trained).figures == found.figures
    assert len(asked) == 4  # one training, three decodings
    (trained.model / "val.greedy.txt").unlink()
    assert measure.of(job(e, "base"), trained).figures == found.figures


def test_a_test_is_read_once_and_only_after_the_choice_is_committed(tmp_path, asked, monkeypatch):
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    decodings = (Decoding(), BEAM)
    e = experiment(
        tmp_path,
        lengths=(50, 100),
        measures=[evaluated("val", decodings, scores=("bleu",))],
        tests=[evaluated("test", decodings, scores=("bleu",), chosen_on="val/bleu")],
    )
    run(e, progress=False)
    with pytest.raises(ValueError, match=r"commit 16-toy\.jsonl before a test set is looked at"):
        look(e)
    path = store.path_of(e.name)
    for words in ("init -q", f"add {path.name}", "commit -qm chosen"):
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words.split()]
        subprocess.run(git, cwd=tmp_path, check=True)
    looked = look(e)
    assert len(looked) == 4
    assert {one.length for one in looked} == {100}
    assert all(one.figures["test/chosen/bleu"] == 20 for one in looked)
    assert looked[0].extra["decoding"] == BEAM.name
    asked.clear()
    assert look(e) == asked == []
    checkpoint = tmp_path / "16-toy" / "base-1-100-1" / "checkpoints" / "100.safetensors"
    checkpoint.parent.mkdir()
    checkpoint.touch()
    more = replace(e, arms=[*e.arms, Arm("more", starts_from="base")])
    words = more.task.command(job(more, "more"))
    assert words[words.index("--start-from") + 1] == str(checkpoint)
    with pytest.raises(ValueError, match="no run of 'more' has val/bleu for each decoding"):
        hooks.chosen(e, "more", decodings, "val/bleu")
    with pytest.raises(ValueError, match="declares no tests"):
        look(experiment(tmp_path))


def test_a_command_that_fails_is_an_error():
    with pytest.raises(RuntimeError, match="ended with 3"):
        hooks._python("-c", "raise SystemExit(3)")
