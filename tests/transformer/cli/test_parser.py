"""The options: what each is where it is not given, which are needed, and which values they take."""

from argparse import ArgumentParser

import pytest

from transformer.cli.parser import make_parser

MODEL = {"model": "m", "average": 1, "best": False, "threads": None}
MODEL |= {"device": "cpu", "quiet": False}
DECODING = {"beam": 4, "alpha": 0.6, "extra_tokens": 50, "early_stopping": False}
DECODING |= {"constrained": False, "max_source": 1000}
PLAN = {"preset": None, "settings": None, "set": []}
DEFAULTS = {
    "train --folder f": {
        **PLAN,
        **{"folder": "f", "resume": "no", "start_from": None, "quiet": False},
        **dict.fromkeys(("max_updates", "seed", "threads", "device")),
    },
    "translate m": {
        **MODEL,
        **DECODING,
        **{"input": None, "n_best": 1, "scores": False, "window": None, "engine": "torch"},
    },
    "evaluate m": {**MODEL, **DECODING, **PLAN, "split": None, "output": None},
    "average m --output o": {"checkpoints": ["m"], "last": None, "output": "o", "quiet": False},
    "export m --output o": {**MODEL, "output": "o", "format": "onnx"},
}
WHOLE = {
    "train --folder f": ["--threads"],
    "translate m": [
        *("--average", "--threads", "--beam", "--extra-tokens", "--max-source"),
        *("--n-best", "--window"),
    ],
    "evaluate m": ["--average", "--beam"],
    "average m --output o": ["--last"],
    "export m --output o": ["--average"],
}
PATHS = {
    "train": ["--folder", "--start-from", "--settings"],
    "translate m": ["--input"],
    "translate": [""],
    "evaluate m": ["--output", "--settings"],
    "average m": ["--output"],
    "average": [""],
    "export m": ["--output"],
}


@pytest.fixture(scope="module")
def parser() -> ArgumentParser:
    return make_parser()


def refused(capsys, parser: ArgumentParser, words: list[str]) -> str:
    with pytest.raises(SystemExit) as stop:
        parser.parse_args(words)
    assert stop.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("words", DEFAULTS)
def test_what_is_not_given(words: str, parser) -> None:
    found = vars(parser.parse_args(words.split()))
    assert found.pop("command").__name__ == f"{words.split()[0]}_command"
    assert found == DEFAULTS[words]


@pytest.mark.parametrize(
    ("words", "option"), [(words, option) for words, options in WHOLE.items() for option in options]
)
def test_a_whole_number_from_1_on(words: str, option: str, parser, capsys) -> None:
    found = parser.parse_args([*words.split(), option, "1"])
    assert getattr(found, option[2:].replace("-", "_")) == 1
    for value in ("0", "1.5", "many"):
        told = refused(capsys, parser, [*words.split(), option, value])
        rule = f"argument {option}: must be a whole number, at least 1, got {value!r}"
        assert told == f"error: {rule} (see python -m transformer {words.split()[0]} --help)\n"


@pytest.mark.parametrize(
    ("words", "option"), [(words, option) for words, options in PATHS.items() for option in options]
)
def test_a_path_is_not_empty(words: str, option: str, parser, capsys) -> None:
    told = refused(capsys, parser, [*words.split(), *option.split(), " "])
    assert "must name a file or folder, got ' '" in told


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        ("", "COMMAND"),
        ("train", "--folder"),
        ("translate", "model"),
        ("evaluate", "model"),
        ("average m", "--output"),
        ("average --output o", "checkpoints"),
        ("export m", "--output"),
    ],
)
def test_what_is_missing_is_named(words: str, missing: str, parser, capsys) -> None:
    told = refused(capsys, parser, words.split())
    assert told.startswith(f"error: the following arguments are required: {missing} (see python ")


def test_options_that_may_be_repeated(parser) -> None:
    words = ["train", "--folder", "f", "--set", "a.b=1", "--set", "c.d=2"]
    assert parser.parse_args(words).set == ["a.b=1", "c.d=2"]
    assert parser.parse_args(words[:3]).set == [], "one command leaves the next alone"
    words = ["average", "a", "b", "--output", "o", "--last", "2"]
    assert parser.parse_args(words).checkpoints == ["a", "b"]
