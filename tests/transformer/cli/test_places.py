"""Where commands write: standard streams, pipes and files, told before work if it cannot be."""

import io
import json
import os
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from transformer.cli import commands, main
from transformer.cli.places import lines_of, standard_stream
from transformer.data.codec import SubwordCodec
from transformer.training.checkpoint import load_checkpoint

needs_unix = pytest.mark.skipif(os.name == "nt", reason="pipes and terminals as on Unix")


@needs_unix
def test_translations_go_to_a_pipe_or_to_standard_output(run: Path, tmp_path, capsys) -> None:
    evaluate = ["evaluate", str(run), "--beam", "1", "--quiet", "--output"]
    assert main([*evaluate, f"{tmp_path}/file"]) == 0
    results = json.loads(capsys.readouterr().out)
    lines = (tmp_path / "file").read_text(encoding="utf-8")
    assert main([*evaluate, "-"]) == 0
    out, err = capsys.readouterr()
    assert out == lines
    assert json.loads(err)["bleu"] == results["bleu"]
    got: list[str] = []
    os.mkfifo(tmp_path / "pipe")
    reader = threading.Thread(
        target=lambda: got.append((tmp_path / "pipe").read_text("utf-8")), daemon=True
    )
    reader.start()
    assert main([*evaluate, f"{tmp_path}/pipe"]) == 0
    reader.join(60)
    assert got == [lines]


def test_a_mean_goes_to_standard_output(run: Path, tmp_path: Path, capsysbinary) -> None:
    average = ["average", str(run), "--last", "2", "--quiet", "--output"]
    assert main([*average, f"{tmp_path}/file"]) == 0
    names = ["000002.safetensors", "000004.safetensors"]
    assert load_checkpoint(tmp_path / "file").notes["average_of"] == names
    assert main([*average[:-2], "--output", "-"]) == 0
    out, err = capsysbinary.readouterr()
    assert out == (tmp_path / "file").read_bytes()
    assert err == b"-: mean of 000002.safetensors, 000004.safetensors\n"


def test_a_stream_that_was_sent_to_a_file_is_known_by_the_files_name(tmp_path, monkeypatch) -> None:
    """`--output /dev/stdout > file`: a new file in the place of this one would lose the results."""
    with (tmp_path / "file").open("w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert standard_stream(f"{tmp_path}/file") is stream
    monkeypatch.setattr(sys, "stdout", None)
    assert standard_stream(f"{tmp_path}/file") is None
    assert standard_stream(f"{tmp_path}/other") is None


@pytest.mark.parametrize(
    "words",
    [
        "train --preset phrasebook --folder FILE/below",
        "evaluate RUN --output FILE/below",
        "average NOTHING --output FILE/below",
        "export NOTHING --output FILE/below",
    ],
)
def test_a_place_that_cannot_be_is_told_before_any_work(
    words: str, run: Path, tmp_path: Path, monkeypatch, capsys
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(commands, "load_corpus", None)  # would fail if it were called
    monkeypatch.setattr(commands, "open_model", None)
    places = {"FILE/below": f"{tmp_path}/file/below", "RUN": run, "NOTHING": f"{tmp_path}/nothing"}
    assert main([str(places.get(word, word)) for word in words.split()]) == 1
    assert f"{tmp_path}/file" in capsys.readouterr().err


def test_standard_output_is_utf8_whatever_the_locale(run: Path, tmp_path, monkeypatch) -> None:
    sent = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(sent, encoding="cp949"))
    monkeypatch.setattr(SubwordCodec, "decode", lambda self, ids: "größer 한")
    (tmp_path / "in.txt").write_text("ein hund\nzwei\n", encoding="utf-8")
    assert main(["translate", str(run), "--beam", "1", "--input", f"{tmp_path}/in.txt"]) == 0
    assert sent.getvalue().decode("utf-8") == "größer 한\n" * 2


@needs_unix
def test_a_typed_line_is_answered_before_the_next(run: Path, monkeypatch) -> None:
    terminal, typed = os.openpty()
    sent = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(sent, encoding="utf-8"))
    answered = []

    def type_and_wait() -> None:
        os.write(terminal, b"ein hund\n")
        end = time.monotonic() + 120  # only so that the test ends
        while b"\n" not in sent.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
        answered.append(sent.getvalue().count(b"\n"))
        os.write(terminal, b"zwei\n\x04")

    with open(typed, "rb") as stdin:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stdin))
        person = threading.Thread(target=type_and_wait, daemon=True)
        person.start()
        assert main(["translate", str(run), "--beam", "1", "--extra-tokens", "1"]) == 0
    person.join()
    os.close(terminal)
    assert answered == [1]
    assert sent.getvalue().count(b"\n") == 2


def read_lines(path: Path, content: bytes, longest: int) -> list[str]:
    path.write_bytes(content)
    with path.open("rb") as file:
        return list(lines_of(file, longest=longest))


def test_only_a_file_begins_with_a_byte_order_mark(tmp_path: Path) -> None:
    mark = b"\xef\xbb\xbf"
    lines = read_lines(tmp_path / "in.txt", mark + b"a\n" + mark + b"b\r\nc", longest=100)
    assert lines == ["a", "\ufeffb", "c"]


@pytest.mark.parametrize("end", [b"\nb\n", b"\nb", b"xxxx\nb", 30 * b"x" + b"\nb\n"])
def test_what_a_line_has_too_much_is_not_the_next_line(tmp_path: Path, end: bytes) -> None:
    lines = read_lines(tmp_path / "in.txt", b"aaaaaaa" + end, longest=8)
    assert [line[:7] for line in lines] == ["aaaaaaa", "b"]
    assert len(lines[0]) <= 8
