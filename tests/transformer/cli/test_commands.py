"""What a command hands on, says and returns; what it works with is tested where it lives."""

import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from filelock import FileLock

from transformer.cli import commands, main, training
from transformer.cli.commands import add_results
from transformer.cli.corpora import spell_with_classes, spell_with_dropout, training_pairs
from transformer.cli.plan import make_plan
from transformer.data.codec import SubwordCodec
from transformer.data.corpus import Corpus
from transformer.inference.translate import Decoding, Translation
from transformer.parsing.codec import TreeCodec
from transformer.training.checkpoint import load_checkpoint
from transformer.training.history import History

FAST = ["--beam", "1", "--extra-tokens", "1"]


@pytest.fixture
def trained(monkeypatch) -> list[SimpleNamespace]:
    """What was handed to `train`, which stands still."""
    calls: list[SimpleNamespace] = []

    def train(model, pairs, settings, **options: Any) -> History:
        calls.append(SimpleNamespace(model=model, pairs=pairs, settings=settings, **options))
        return History()

    monkeypatch.setattr(training, "train", train)
    return calls


@pytest.fixture
def train(files: Path, tmp_path: Path) -> Callable[..., int]:
    def run(*options: str) -> int:
        settings = ["--settings", f"{files}/settings.toml", "--folder", f"{tmp_path}/new"]
        return main(["train", *settings, *options])

    return run


def piped(monkeypatch: pytest.MonkeyPatch) -> io.BytesIO:
    """Return what leaves the process: into a pipe, lines are kept back until a flush."""
    sent = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BufferedWriter(sent), encoding="utf-8"))
    return sent


@pytest.fixture
def measured(monkeypatch) -> list[Decoding]:
    """How `evaluate` decoded; sentences come back as they were, and nothing is computed."""
    asked: list[Decoding] = []

    def translate(model, codec, lines, decoding) -> list[list[Translation]]:
        asked.append(decoding)
        return [[Translation(line)] for line in lines]

    monkeypatch.setattr(commands, "translate", translate)
    monkeypatch.setattr(commands, "perplexity", lambda *_: 2.0)
    return asked


def results_file(folder: Path) -> str:
    return (folder / "results.json").read_text(encoding="utf-8")


def copied(run: Path, folder: Path) -> Path:
    folder.mkdir()
    (folder / "checkpoints").symlink_to(run / "checkpoints")
    (folder / "settings.json").write_bytes((run / "settings.json").read_bytes())
    return folder


def test_the_seed_draws_the_parameters_whatever_was_drawn_before(trained, train) -> None:
    for seed in ("1", "1", "2"):
        torch.rand(7)
        assert train("--seed", seed, "--quiet") == 0
    first, again, other = (call.model.source_embedding.weight for call in trained)
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@pytest.mark.parametrize("quiet", [True, False])
def test_training_says_what_it_trains_unless_it_is_to_be_quiet(
    trained, train, monkeypatch, capsys, quiet: bool
) -> None:
    asked = []
    lines = training.lines_of

    def lines_of(data, split, *, progress):
        asked.append((split, progress))
        return lines(data, split, progress=progress)

    monkeypatch.setattr(training, "lines_of", lines_of)
    assert train(*["--quiet"] * quiet) == 0
    (call,) = trained
    assert asked == [("train", not quiet), ("valid", not quiet)]
    assert call.progress is not quiet
    size, parameters = call.model.config.vocab_size, call.model.n_parameters
    said = f"396 pairs, {size} tokens, {parameters:,} parameters\n"
    assert capsys.readouterr() == ("", "" if quiet else said)


def test_what_a_run_is_recorded_with(trained, train, tmp_path: Path) -> None:
    assert train("--quiet") == 0
    (call,) = trained
    assert (call.folder, call.resume, len(call.valid)) == (f"{tmp_path}/new", False, 10)
    assert json.loads(call.tokenizer)["kind"] == "subwords"
    assert call.notes["data"]["merges"] == 30
    assert call.notes["threads"] == torch.get_num_threads()
    assert not (tmp_path / "new" / "results.json").exists(), "a run without a row has no results"


def test_one_command_begins_a_run_and_goes_on_with_it(trained, train, tmp_path: Path) -> None:
    for _ in range(2):
        assert train("--quiet", "--resume=auto") == 0
        (tmp_path / "new").mkdir(exist_ok=True)
        for name in ("settings.json", "state.safetensors"):
            (tmp_path / "new" / name).touch()
    assert [call.resume for call in trained] == [False, True]


def test_a_sentence_past_the_last_learned_position_is_told_first(trained, train, capsys) -> None:
    for length in ("30", "6"):
        code = train("--set", "model.positions=learned", "--set", f"model.max_len={length}")
        assert code == (length == "6")
    assert (
        "train.de, line 6: a sentence of 7 tokens, its end included, and model.max_len"
        in capsys.readouterr().err
    )
    assert len(trained) == 1


def test_a_wrong_start_is_corrected_in_its_folder_and_a_finished_run_left_alone(
    train, tmp_path: Path, capsys
) -> None:
    assert train("--quiet", "--set", "training.max_tokens=3") == 1
    assert "and training.max_tokens is 3" in capsys.readouterr().err
    assert train("--quiet") == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert train("--quiet", "--resume") == 0
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def test_an_interrupted_run_says_how_to_go_on(trained, train, monkeypatch, tmp_path) -> None:
    pipe = piped(monkeypatch)
    stopped = History(interrupted_by=15)
    monkeypatch.setattr(training, "train", lambda *_, **__: stopped)
    assert train() == 143
    told = f"interrupted; go on with --resume and the same options: {tmp_path}/new\n"
    assert pipe.getvalue().decode() == told


def test_a_folder_with_a_run_or_in_use_is_refused_before_anything_is_read(
    run: Path, files: Path, monkeypatch, capsys
) -> None:
    monkeypatch.setattr(training, "lines_of", None)  # would fail if it were called
    before = (run / "settings.json").read_bytes()
    command = ["train", "--settings", f"{files}/settings.toml", "--folder", str(run), "--quiet"]
    assert main(command) == 1
    assert "already holds a run" in capsys.readouterr().err
    with FileLock(run / ".lock"):
        assert main([*command, "--resume"]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "is in use: another process trains there" in error
    assert (run / "settings.json").read_bytes() == before


@pytest.mark.parametrize("resume", ["--resume", "--resume=auto"])
@pytest.mark.parametrize("lost", ["settings.json", "state.safetensors"])
def test_a_run_that_lost_a_file_is_refused_before_anything_is_read(
    run: Path, files: Path, tmp_path: Path, monkeypatch, capsys, lost: str, resume: str
) -> None:
    folder = copied(run, tmp_path / "run")
    (folder / "state.safetensors").write_bytes((run / "state.safetensors").read_bytes())
    (folder / lost).unlink()
    monkeypatch.setattr(training, "lines_of", None)  # would fail if it were called
    words = ["train", "--settings", f"{files}/settings.toml", "--folder", str(folder)]
    assert main([*words, resume]) == 1
    told = f"{folder} holds checkpoints up to update 4, but no {lost}: copy it there, or begin a "
    start = f"new run in another folder with --start-from {folder}/checkpoints/000004.safetensors"
    assert capsys.readouterr().err == f"error: {told}{start}\n"


def test_what_a_killed_write_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".results.json.123.unfinished").write_text("{")
    (tmp_path / ".log.csv.123.unfinished").write_text("of a run that may be going on")
    add_results(tmp_path, "evaluation", {"bleu": 1.0})
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == [".log.csv.123.unfinished", ".results.json.lock", "results.json"]


def test_subwords_are_spelled_anew_where_dropout_is_asked_for() -> None:
    lines = ("a dog runs", "two dogs run", "a cat sleeps")
    corpus = Corpus(
        name="c", source_language="en", target_language="en", split="s", source=lines, target=lines
    )
    codec = SubwordCodec.train(lines, n_merges=7)
    plan = make_plan("multi30k-tiny", None, ["training.seed=7"])
    assert training_pairs(plan, codec, corpus) == [(codec.encode(line),) * 2 for line in lines]
    plan = make_plan("multi30k-tiny", None, ["data.bpe_dropout=0.5", "training.seed=7"])
    pairs = training_pairs(plan, codec, corpus)
    expected = spell_with_dropout(codec, corpus, dropout=0.5, seed=7)
    assert callable(pairs)
    assert [pairs(epoch) for epoch in range(3)] == [expected(epoch) for epoch in range(3)]


def test_words_become_classes_where_dropout_is_asked_for() -> None:
    source, target = ("the cat sleeps", "the dog sleeps"), ("(S DT NN VBZ )S",) * 2
    corpus = Corpus(
        name="c", source_language="en", target_language="t", split="s", source=source, target=target
    )
    codec = TreeCodec.learn(source, target)
    plan = make_plan("craft-trees", None, ["data.word_dropout=0"])
    encoded = [(codec.encode(s), codec.encode_target(t)) for s, t in corpus]
    assert training_pairs(plan, codec, corpus) == encoded
    pairs = training_pairs(make_plan("craft-trees", None, ["training.seed=7"]), codec, corpus)
    expected = spell_with_classes(codec, corpus, dropout=0.1, seed=7)
    assert callable(pairs)
    assert [pairs(epoch) for epoch in range(9)] == [expected(epoch) for epoch in range(9)]


def test_every_option_reaches_the_decoder(run: Path, monkeypatch) -> None:
    asked = []

    def stream(_, lines, decoding, *, window, refused) -> Iterator[list[Translation]]:
        asked.append((decoding, window))
        return iter([])

    monkeypatch.setattr(commands.Translator, "stream", stream)
    words = ["--beam", "3", "--alpha", "0.2", "--extra-tokens", "7", "--max-source", "9"]
    words += ["--n-best", "2", "--window", "5", "--early-stopping", "--constrained"]
    assert main(["translate", str(run), "--input", os.devnull, *words]) == 0
    assert main(["translate", str(run), "--input", os.devnull]) == 0
    given = {"beam": 3, "alpha": 0.2, "extra_tokens": 7, "max_source": 9, "n_best": 2}
    given |= {"early_stopping": True, "constrained": True}
    assert asked == [(Decoding(**given), 5), (Decoding(), 100)]


def test_a_translation_leaves_before_the_next_line_is_read(
    run: Path, tmp_path: Path, monkeypatch
) -> None:
    """Else a program that talks to this one through pipes waits for ever."""

    class Talk(io.BufferedReader):
        def readline(self, size: int | None = -1, /) -> bytes:
            seen.append(pipe.getvalue().count(b"\n"))
            return super().readline(size)

    seen: list[int] = []
    (tmp_path / "in.txt").write_text("ein hund\nzwei\n")
    pipe = piped(monkeypatch)
    with Talk(io.FileIO(tmp_path / "in.txt")) as stdin:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stdin))
        assert main(["translate", str(run), *FAST, "--window", "1", "--input", "-"]) == 0
    assert seen == [0, 1, 2]


def test_the_longest_line_may_have_characters_of_four_bytes(run: Path, tmp_path, capsys) -> None:
    for number, told in ((100, "tokens"), (101, "characters")):
        (tmp_path / "in.txt").write_text(number * "\U0001f600" + "\n", encoding="utf-8")
        words = ["--input", f"{tmp_path}/in.txt", "--max-source", "1"]
        assert main(["translate", str(run), *words]) == 1
        assert f"{told} a line" in capsys.readouterr().err


def test_evaluation_decodes_as_it_is_told_and_says_so(
    run: Path, tmp_path, measured, capsys
) -> None:
    folder = copied(run, tmp_path / "größe")
    words = ["--beam", "3", "--alpha", "0.2", "--extra-tokens", "7", "--max-source", "9"]
    assert main(["evaluate", str(folder), *words]) == 0
    assert measured == [Decoding(beam=3, alpha=0.2, extra_tokens=7, max_source=9)]
    printed = capsys.readouterr().out
    results = json.loads(printed)
    assert results["model"] == str(folder)
    names = ("average", "split", "beam", "alpha", "early_stopping", "constrained")
    told = [results[name] for name in names]
    assert told == [1, "valid", 3, 0.2, False, False]
    assert json.loads(results_file(folder)) == {"evaluation": [results]}
    assert "größe" in printed, "people read it"
    assert "größe" in results_file(folder)


def test_results_leave_before_they_are_filed(run: Path, measured, monkeypatch) -> None:
    pipe, filed = piped(monkeypatch), list[bytes]()
    monkeypatch.setattr(commands, "add_results", lambda *_: filed.append(pipe.getvalue()))
    monkeypatch.setattr(
        commands, "time", SimpleNamespace(perf_counter=iter((100.0, 102.5)).__next__)
    )
    assert main(["evaluate", str(run)]) == 0
    assert json.loads(filed[0])["seconds"] == 2.5


@pytest.mark.parametrize("quiet", [True, False])
def test_evaluation_shows_what_it_downloads_unless_it_is_to_be_quiet(
    run: Path, monkeypatch, quiet: bool
) -> None:
    asked = []

    def load(data, split, *, progress):
        asked.append((data.corpus, split, progress))
        raise ValueError("this test measures nothing")

    monkeypatch.setattr(commands, "load_corpus", load)
    words = ["evaluate", str(run), "--preset", "multi30k-tiny", *["--quiet"] * quiet]
    assert main(words) == 1
    assert main([*words, "--split", "val"]) == 1
    assert asked == [("multi30k", split, not quiet) for split in ("test_2016_flickr", "val")]


def test_a_settings_file_names_the_corpus_too(run: Path, files: Path, measured, capsys) -> None:
    checkpoint = run / "checkpoints" / "000004.safetensors"
    settings = ["--settings", f"{files}/settings.toml", "--set", "data.tokenized=yes"]
    assert main(["evaluate", str(checkpoint), *settings]) == 0
    results = json.loads(capsys.readouterr().out)
    assert results["corpus"] == "valid.de–valid.xx"
    assert "tok:none" in results["bleu_signature"]
    assert not checkpoint.with_name("results.json").exists(), "a file has no list of results"


def test_bleu_is_computed_as_asked_for_and_says_when_it_is_nothing(
    run: Path, measured, capsys, monkeypatch
) -> None:
    for name, is_nothing in (("char", False), ("13a", True)):  # every line has three words
        assert main(["evaluate", str(run), "--set", f"data.bleu_tokenizer={name}"]) == 0
        found = capsys.readouterr()
        assert f"tok:{name}" in json.loads(found.out)["bleu_signature"]
        assert ("no translation has four tokens, so BLEU is 0" in found.err) is is_nothing
    assert main(["evaluate", str(run), "--set", "data.bleu_tokenizer=word"]) == 2
    assert "bleu_tokenizer must be one of 13a, char, " in capsys.readouterr().err
    monkeypatch.setattr(commands, "open_model", None)  # would fail if it were called
    monkeypatch.setitem(sys.modules, "MeCab", None)  # as where it is not installed
    monkeypatch.delitem(sys.modules, "sacrebleu.tokenizers.tokenizer_ja_mecab", raising=False)
    assert main(["evaluate", str(run), "--set", "data.bleu_tokenizer=ja-mecab"]) == 1
    assert "'ja-mecab' needs a package more: pip install 'sacrebleu[ja]'" in capsys.readouterr().err


def test_the_mean_of_files(run: Path, tmp_path: Path, capsys) -> None:
    paths = sorted(str(path) for path in (run / "checkpoints").iterdir())
    output = tmp_path / "mean.safetensors"
    assert main(["average", *paths, "--output", str(output), "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    mean = load_checkpoint(output)
    weights = [load_checkpoint(path).weights for path in paths]
    for name, value in mean.weights.items():
        torch.testing.assert_close(value, (weights[0][name] + weights[1][name]) / 2)
    assert main(["average", paths[0], "--output", str(output), "--quiet"]) == 0
    assert load_checkpoint(output).notes == {"average_of": ["000002.safetensors"]}


def test_results_of_several_kinds_share_a_file(tmp_path: Path) -> None:
    add_results(tmp_path, "training", {"loss": 1})
    add_results(tmp_path, "evaluation", {"text": "größe"})
    add_results(tmp_path, "evaluation", {"bleu": 2})
    add_results(tmp_path, "evaluation", {"bleu": 2}, unless_has="bleu")
    text = results_file(tmp_path)
    kept = {"training": [{"loss": 1}], "evaluation": [{"text": "größe"}, {"bleu": 2}]}
    assert text == json.dumps(kept, indent=2, ensure_ascii=False) + "\n"


def test_ctrl_c_is_one_word_and_code_130(monkeypatch, capsys) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "average_checkpoints", interrupted)
    assert main(["average", "a", "b", "--output", "o"]) == 130
    assert capsys.readouterr() == ("", "interrupted\n")


@pytest.mark.skipif(os.name == "nt", reason="pipes as on Unix")
def test_a_reader_that_has_gone_is_no_traceback(run: Path, tmp_path: Path, monkeypatch) -> None:
    """As after `| head -1`; what Python writes at its end goes nowhere."""
    reading, writing = os.pipe()
    os.close(reading)
    (tmp_path / "in.txt").write_text("ein hund\n")
    with os.fdopen(writing, "w") as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        assert main(["translate", str(run), *FAST, "--input", f"{tmp_path}/in.txt"]) == 1
        stdout.flush()


def test_what_was_typed_is_checked_where_no_arguments_are_handed_over(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["transformer", "a\udcff"])
    assert main() == 2
    assert "arguments must be UTF-8" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["\udcff/__main__.py", "--help"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 0, "where the program lies may be named as it likes"
