"""The sampler of mutants, on a package of one module with half a test."""

import ast
import re
from pathlib import Path

import pytest
from tools.verify import mutate

TOY = '''\
"""A docstring is no place: 1 + 1 < 3."""

from typing import Literal

LIMIT: int = 3
Kind = Literal["a", "b"]


def inside(x: int | float, *, strict: bool = True) -> bool | None:
    """1 < 2."""
    if x != x:
        raise ValueError(f"{x + 1} is no number")
    return 0 < x < LIMIT if strict else 0 <= x and not x > LIMIT


def describe(x):
    words = []
    for word in ("in", "out"):
        if inside(x, strict=False) is (word == "in"):
            words.append(word)
            break
    total = -len(words)  # + is not *
    total += 2
    words = [a for a, _ in zip(words, words, strict=True)]
    parser.add_argument("--last", help="how many", default=words[-1])
    return sorted(words, key=len, reverse=True), total
'''
HALF_A_TEST = """\
import pytest
from toy import describe, inside


def test_inside():
    assert inside(1)
    assert inside(2)
    assert not inside(0)
    assert not inside(3)
    with pytest.raises(ValueError):
        inside(float("nan"))
"""


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    for folder in ("src/toy", "tests/toy"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "src/toy/toy.py").write_text(TOY)
    (tmp_path / "tests/toy/test_toy.py").write_text(HALF_A_TEST)
    (tmp_path / "tests/toy/test_else.py").write_text("def test_nothing():\n    pass\n")
    return tmp_path


def changes(root: Path) -> list[tuple[str, str]]:
    """Kind, and the changed line (the first of them)."""
    found = []
    before = TOY.splitlines()
    for mutant in mutate.mutants(root, "src/toy"):
        after = mutant.apply(TOY.encode()).decode().splitlines()
        changed = next(b for a, b in zip(before, after, strict=False) if a != b)
        found.append((mutant.kind, changed.strip()))
    return found


def test_every_kind_of_place_is_found_and_texts_and_types_are_not(toy: Path) -> None:
    found = changes(toy)
    for expected in (
        ("constant", "LIMIT: int = (4)"),
        ("constant", "def inside(x: int | float, *, strict: bool = (False)) -> bool | None:"),
        ("condition", "if (not x != x):"),
        ("comparison", "if (x == x):"),
        ("statement", "pass"),
        ("comparison", "return (0 <= x < LIMIT) if strict else 0 <= x and not x > LIMIT"),
        ("comparison", "return (0 < x <= LIMIT) if strict else 0 <= x and not x > LIMIT"),
        ("boolean", "return 0 < x < LIMIT if strict else (0 <= x or not x > LIMIT)"),
        ("boolean", "return 0 < x < LIMIT if strict else 0 <= x and (x > LIMIT)"),
        ("condition", "return 0 < x < LIMIT if (not strict) else 0 <= x and not x > LIMIT"),
        ("argument", 'if (inside(x)) is (word == "in"):'),
        ("comparison", "if (inside(x, strict=False) is not (word == 'in')):"),
        ("arithmetic", "total = (len(words))  # + is not *"),
        ("argument", "(parser.add_argument('--last', help='how many'))"),
        ("arithmetic", 'parser.add_argument("--last", help="how many", default=words[(-2)])'),
        ("argument", "return (sorted(words, reverse=True)), total"),
        ("argument", "return (sorted(words, key=len)), total"),
    ):
        assert expected in found, expected
    assert len(set(found)) > len(found) - 5
    for _, line in found:
        assert ("zip(" in line) <= ("strict=True" in line)
        assert ("--last" in line) <= ("how many" in line)
        assert "docstring" not in line
        assert "Literal" not in line
        assert "is no number" not in line
        assert "int & float" not in line
    for mutant in mutate.mutants(toy, "src/toy"):
        ast.parse(mutant.apply(TOY.encode()))
    assert (
        sum(kind == "statement" for kind, _ in found) == 5
    )  # raise, append, break, +=, add_argument


def test_the_tests_that_name_the_module_come_first(toy: Path) -> None:
    (mutant, *_) = mutate.mutants(toy, "src/toy")
    groups = mutate.in_order(toy, "tests/toy", mutant)
    assert groups == [["tests/toy/test_toy.py"], ["tests/toy/test_else.py"]]


def test_those_of_the_module_s_package_and_those_that_name_it_come_first(tmp_path: Path) -> None:
    files = {
        "a/test_all.py": "from package import data",
        "data/test_names.py": "import package.data.book.words",
        "data/test_book.py": "from package.data.book import Book",
        "test_words.py": "",
    }
    for name, text in files.items():
        (tmp_path / "tests/package" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tests/package" / name).write_text(text)
    mutant = mutate.Mutant("src/package/data/book/words.py", 1, "constant", 0, 1, "2")
    assert mutate.in_order(tmp_path, "tests/package", mutant) == [
        [f"tests/package/{one}.py" for one in ("data/test_book", "data/test_names", "test_words")],
        ["tests/package/a/test_all.py"],
    ]


def in_this_process(copy: Path, files: list[str], seconds: int) -> str:
    """Stands for `run_tests`: starting pytest for every mutant takes seconds."""
    assert seconds == 300
    if not files[0].startswith("tests/toy/test_toy.py"):
        return "survived"
    broken: dict = {}
    exec((copy / "src/toy/toy.py").read_text(), broken)
    good = [broken["inside"](x) for x in (1, 2, 0, 3)] == [True, True, False, False]
    return "survived" if good else "killed"


def test_survivors_are_shown_as_patches(toy: Path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(mutate, "run_tests", in_this_process)
    assert mutate.main(["--package", "toy", "--seed", "5", "--number", "12"], root=toy) == 0
    told = capsys.readouterr().out
    assert (toy / "src/toy/toy.py").read_text() == TOY, "only the copy is broken"
    tried = re.findall(r"^(killed|survived) +src/toy/toy.py:(\d+)", told, re.MULTILINE)
    assert len(tried) == 12
    states = [state for state, _ in tried]
    assert {"killed", "survived"} == set(states)
    for state, line in tried:
        if int(line) > 14:  # `describe` is not called by any test
            assert state == "survived"
    assert told.count("--- src/toy/toy.py") == states.count("survived")
    assert f"{states.count('killed')} of 12 noticed" in told


def test_what_pytest_says_is_understood(toy: Path) -> None:
    (toy / "tests/toy/test_no.py").write_text("def test_no():\n    assert False\n")
    (toy / "tests/toy/test_loop.py").write_text("def test_loop():\n    while True:\n        pass\n")
    told = [mutate.run_tests(toy, [f"tests/toy/test_{n}.py"], 5) for n in ("else", "no", "loop")]
    assert told == ["survived", "killed", "endless"]
