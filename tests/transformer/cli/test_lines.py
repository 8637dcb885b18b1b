"""One line in, one line out: whatever a line holds, the others keep their places."""

import json
from pathlib import Path

import pytest
from safetensors.torch import save_file

from transformer.cli import main
from transformer.data.codec import SubwordCodec
from transformer.training.checkpoint import load_checkpoint, write_tensors


@pytest.fixture
def translate(tmp_path: Path):
    """Translate what a file holds, and check the exit code."""

    def run(model: Path, text: bytes, *options: str, code: int = 0) -> None:
        (tmp_path / "in.txt").write_bytes(text)
        words = ["translate", str(model), "--input", f"{tmp_path}/in.txt", "--beam", "3"]
        assert main([*words, *options]) == code

    return run


def test_every_line_gets_n_lines(run: Path, translate, capsys) -> None:
    text = b"ein hund\n\nzwei katzen\n"
    translate(run, text, "--n-best", "3")
    lines = capsys.readouterr().out.split("\n")
    assert len(lines) == 9 + 1
    assert lines[3:6] == ["", "", ""]
    translate(run, text, "--n-best", "3", "--scores")
    scored = capsys.readouterr().out.split("\n")
    assert scored[3:6] == ["\t", "\t", "\t"]
    assert [line.partition("\t")[2] for line in scored[:9]] == lines[:9]
    assert float(scored[0].split("\t")[0]) >= float(scored[1].split("\t")[0])


def test_bad_lines_keep_their_places(run: Path, translate, capsys) -> None:
    good = [b"ein hund", b"zwei katzen im garten"]
    bad = [b"h\xffnd", b"h\0und", b"\xed\xa0\x80", b"ein " * 10_000]
    bad += [b"x" * 150_000, b"x" * 9_000_000]
    translate(run, b"\n".join(good))
    expected = capsys.readouterr().out.splitlines()
    for window in ("1", "100"):
        text = b"\n".join([good[0], *bad, good[1]])
        translate(run, text, "--window", window, code=1)
        found = capsys.readouterr()
        assert found.out.split("\n") == [expected[0], *[""] * 6, expected[1], ""]
        told = found.err.splitlines()
        assert [line.split(":")[1] for line in told] == [f" line {n}" for n in range(2, 8)]
        hint = "is this UTF-16? save it as UTF-8"
        assert told[0].endswith(f"not UTF-8 (byte 0xff at column 2): {hint}")
        assert told[1].endswith(f"a NUL byte at column 2: {hint}")
        assert told[2].endswith("not UTF-8 (byte 0xed at column 1)")
        assert "at most 1000 tokens a line, got " in told[3]
        assert all("at most 100000 characters a line" in line for line in told[4:])


def test_the_shortest_limit_is_one_token(run: Path, translate, capsys) -> None:
    translate(run, b"ein hund und zwei katzen\n\n", "--max-source", "1", code=1)
    found = capsys.readouterr()
    assert found.out == "\n\n"
    assert "at most 1 tokens a line" in found.err


def test_a_byte_order_mark_is_no_text(run: Path, translate, capsys) -> None:
    translate(run, b"ein hund\n")
    expected = capsys.readouterr().out
    translate(run, b"\xef\xbb\xbfein hund\r\n")
    assert capsys.readouterr().out == expected


def test_a_line_feed_in_a_translation_becomes_a_space(
    run: Path, translate, monkeypatch, capsys
) -> None:
    monkeypatch.setattr(SubwordCodec, "decode", lambda self, ids: "a\nb\r\nc\u2028d")
    for beam in ("1", "2"):
        translate(run, b"ein hund\n", "--beam", beam)
        assert capsys.readouterr().out == "a b c d\n"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers(value, run, tmp_path, translate, capsys) -> None:
    checkpoint = load_checkpoint(run / "checkpoints" / "000004.safetensors")
    next(iter(checkpoint.weights.values()))[7] = value
    path, config = tmp_path / "broken.safetensors", json.dumps(checkpoint.config.to_dict())
    with pytest.raises(FloatingPointError, match=r"is not written: .* is no longer finite"):
        write_tensors(path, checkpoint.weights, {})
    save_file(checkpoint.weights, path, {"config": config, "tokenizer": checkpoint.tokenizer})
    for beam in ("1", "2"):
        translate(path, b"ein hund\n", "--beam", beam, code=1)
        assert "holds weights that are not finite numbers" in capsys.readouterr().err
