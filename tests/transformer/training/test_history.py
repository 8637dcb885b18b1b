"""The log of a run as a file: the same bytes everywhere, and read back as it was."""

from pathlib import Path

from transformer.training.history import History, Record

RECORD = Record(
    update=50,
    epoch=1,
    loss=2.5,
    rate=1e-3,
    gradient_norm=0.75,
    tokens=1000,
    tokens_per_second=500.0,
    seconds=2.0,
)


def test_rows_end_as_other_programs_of_the_system_expect(tmp_path: Path) -> None:
    History([RECORD]).write(tmp_path / "log.csv")
    header, row, rest = (tmp_path / "log.csv").read_bytes().split(b"\n")
    assert header.endswith(b",seconds,valid_perplexity")
    assert row == b"50,1,2.5,0.001,0.75,1000,500.0,2.0,"
    assert rest == b""


def test_what_was_written_is_read(tmp_path: Path) -> None:
    rows = [RECORD, Record(**{**RECORD.__dict__, "update": 100, "valid_perplexity": 7.25})]
    History(rows, interrupted_by=15).write(tmp_path / "log.csv")
    read = History.read(tmp_path / "log.csv", up_to=100)
    assert read == History(rows)
    assert read.perplexities == [(100, 7.25)]
    assert History.read(tmp_path / "log.csv", up_to=99).records == [RECORD]
    assert History.read(tmp_path / "none.csv", up_to=99) == History()
