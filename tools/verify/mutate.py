"""Mutation testing: break the package in small ways, and see whether its tests notice.

    .venv/bin/python -m tools.verify.mutate --number 300 --seed 7

draws that many places of `src/transformer`, changes one at a time in a copy of the repository, and
runs the tests, first the files that the changed module belongs to, until one fails. What
no test notices is printed as a diff. Results are kept after each mutant; the same command goes on
where it stopped, and tries survivors again when a test has changed. A test that fails in the copy
without any mutant notices nothing: the first time a test fails, it is run alone with the mutant
undone, and left out if it fails again.

Why not a tool of others: mutmut (3.8) changes nothing outside functions, where defaults and presets
stand, and nothing in a function with a decorator, a `property` or `torch.no_grad` for instance.
Cosmic Ray (8.7) runs one command for every mutant, here two minutes of tests, and neither removes
arguments nor statements. Neither draws a sample.
"""

# ruff: noqa: D102, N815 (a visitor's methods are named after what they visit)

import argparse
import ast
import difflib
import hashlib
import json
import multiprocessing
import os
import random
import re
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cache
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("src", "tests", "tools", "benchmarks", "results", "pyproject.toml", "README.md")

OPPOSITES = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "is": "is not", "is not": "is", "in": "not in", "not in": "in", "and": "or", "or": "and",
    "+": "-", "-": "+", "*": "/", "/": "*", "//": "/", "%": "*", "**": "*", "|": "&", "&": "|",
}  # fmt: skip
OPERATOR = re.compile(rb"is\s+not\b|not\s+in\b|is\b|in\b|and\b|or\b|//|\*\*|[<>=!]=|[-+*/%<>|&]")


# Arguments that no test can tell apart: words for people, what Linux does anyway, and guards
# that right code never meets.
WORDS = frozenset({"help", "metavar", "description", "epilog", "unit", "encoding", "indent"})
GUARDS = {"zip": {"strict"}, "dataclass": {"frozen", "kw_only", "slots"}}


@dataclass(frozen=True)
class Mutant:
    """One change: the bytes `start` … `end` of a file become `after`."""

    path: str
    line: int
    kind: str
    start: int
    end: int
    after: str

    @property
    def name(self) -> str:
        return f"{self.path}:{self.line} {self.kind} {self.start}"

    def apply(self, source: bytes) -> bytes:
        return source[: self.start] + self.after.encode() + source[self.end :]


class Places(ast.NodeVisitor):
    """Collects every mutant of one file; texts, types, docstrings, `WORDS` and `GUARDS` stay."""

    def __init__(self, path: str, source: bytes) -> None:
        self.path, self.source, self.found = path, source, list[Mutant]()
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.visit(ast.parse(source))

    def span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        begin, end = self.starts[node.lineno - 1], self.starts[(node.end_lineno or 1) - 1]
        return begin + node.col_offset, end + (node.end_col_offset or 0)

    def add(self, kind: str, start: int, end: int, after: str) -> None:
        line = self.source.count(b"\n", 0, start) + 1
        self.found.append(Mutant(self.path, line, kind, start, end, after))

    def swap(self, kind: str, left: ast.expr, right: ast.expr) -> None:
        """Replace the operator that stands between two operands."""
        start, end = self.span(left)[1], self.span(right)[0]
        operator = OPERATOR.search(
            re.sub(rb"#[^\n]*", lambda c: b" " * len(c[0]), self.source[start:end])
        )
        if operator:
            opposite = OPPOSITES.get(" ".join(operator[0].decode().split()))
            if opposite:
                self.add(kind, start + operator.start(), start + operator.end(), opposite)

    def negate(self, test: ast.expr) -> None:
        start, end = self.span(test)
        self.add("condition", start, end, f"not ({self.source[start:end].decode()})")

    def visit_Compare(self, node: ast.Compare) -> None:
        for left, right in zip([node.left, *node.comparators], node.comparators, strict=False):
            self.swap("comparison", left, right)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self.swap("arithmetic", node.left, node.right)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.add("statement", *self.span(node), "pass")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in zip(node.values, node.values[1:], strict=False):
            self.swap("boolean", left, right)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self.add("boolean", self.span(node)[0], self.span(node.operand)[0], "")
        elif isinstance(node.op, ast.USub):
            if isinstance(node.operand, ast.Constant) and node.operand.value == 1:
                # the last of two axes is also axis 1
                self.add("arithmetic", *self.span(node), "-2")
                return
            self.add("arithmetic", self.span(node)[0], self.span(node.operand)[0], "")
        self.generic_visit(node)

    def visit_If(self, node: ast.If | ast.IfExp | ast.While) -> None:
        self.negate(node.test)
        self.generic_visit(node)

    visit_IfExp = visit_While = visit_If

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self.add("constant", *self.span(node), str(not value))
        elif isinstance(value, int | float):
            self.add("constant", *self.span(node), repr(value + 1 if value else 1))

    def visit_Call(self, node: ast.Call) -> None:
        left_alone = WORDS | GUARDS.get(getattr(node.func, "id", ""), set())
        kept = [keyword for keyword in node.keywords if keyword.arg not in left_alone]
        for keyword in kept:
            if keyword.arg is not None:
                start, end = self.span(keyword)
                comma = re.match(rb"\s*,[ \n]*", self.source[end:])
                self.add("argument", start, end + (comma.end() if comma else 0), "")
        for part in (node.func, *node.args, *(keyword.value for keyword in kept)):
            self.visit(part)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # docstrings, `...`
            self.add("statement", *self.span(node), "pass")
            self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self.add("statement", *self.span(node), "pass")  # not what the message is made of

    def visit_Continue(self, node: ast.Continue | ast.Break) -> None:
        self.add("statement", *self.span(node), "pass")

    visit_Break = visit_Continue

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave texts alone."""

    def visit_arg(self, node: ast.arg) -> None:
        """Leave types alone."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for part in (*node.decorator_list, node.args, *node.body):
            self.visit(part)


def mutants(root: Path, package: str) -> list[Mutant]:
    """Every mutant of every file of the package that is still Python."""
    found = []
    for path in sorted((root / package).rglob("*.py")):
        source = path.read_bytes()
        for mutant in Places(str(path.relative_to(root)), source).found:
            try:
                ast.parse(mutant.apply(source))
            except SyntaxError:
                continue
            found.append(mutant)
    return found


def in_order(root: Path, tests: str, mutant: Mutant) -> list[list[str]]:
    """The test files in three groups, the likeliest to notice first.

    Those of the module or of the package that holds it and those that name it; those in the folder
    that mirrors its own; the rest.
    """
    path = Path(mutant.path).with_suffix("")
    module, dotted = path.stem, ".".join(path.parts[1:])
    brought = rf"from {re.escape(dotted.rpartition('.')[0])} import .*\b{module}\b"
    its_own = {f"test_{module}", f"test_{path.parent.name}"}
    mirrored = {Path(tests).joinpath(*path.parts[2:n]) for n in range(3, len(path.parts))}
    own, naming, near, rest = [], [], [], []
    for file in sorted((root / tests).rglob("test_*.py")):
        text = file.read_text(encoding="utf-8")
        if file.stem in its_own:
            group = own
        elif re.search(rf"\b{re.escape(dotted)}\b|{brought}", text):
            group = naming
        else:
            group = near if file.relative_to(root).parent in mirrored else rest
        group.append(str(file.relative_to(root)))
    return [group for group in ([*own, *naming], near, rest) if group]


def run_tests(
    copy: Path, files: list[str], seconds: int, without: Iterable[str] = ()
) -> tuple[str, str]:
    """Run pytest on files of the copy until one fails; what happened, and in which test."""
    arguments = ["-q", "-x", "--tb=no", "--show-capture=no", "-p", "no:cacheprovider"]
    arguments += [*files, *(f"--deselect={test}" for test in without)]
    with tempfile.NamedTemporaryFile("r", encoding="utf-8", suffix=".txt") as said:
        started = fresh_process()(target=pytest_in, args=(copy, arguments, seconds, said.name))
        started.start()
        started.join(10 * seconds)  # of the wall clock: waiting takes no processor time
        if started.is_alive():
            started.kill()
            started.join()
        told = said.read()
    if started.exitcode in (0, 5):  # 5: no tests in these files
        return "survived", ""
    if started.exitcode is None or started.exitcode < 0:
        return "endless", ""
    failed = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", told, flags=re.MULTILINE)
    return "killed", failed[0] if failed else files[0]


@cache
def fresh_process() -> Callable[..., BaseProcess]:
    """Return what starts a process that has torch and pytest already, and not the package."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch", "pytest", "hypothesis", "jaxtyping", "beartype"])
    return context.Process


def pytest_in(copy: Path, arguments: list[str], seconds: int, output: str) -> None:
    """Become pytest in the copy."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    with Path(output).open("w", encoding="utf-8") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.chdir(copy)
    torch.set_num_threads(1)
    sys.dont_write_bytecode = True
    settings = {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    os.environ.update(settings, PYTHONPATH=str(copy / "src"))  # for the processes that tests start
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # here only: other tests start pytest too
    sys.path[:0] = [str(copy / "src"), str(copy)]
    sys.exit(pytest.main(arguments))


@dataclass
class Trial:
    """A copy of the repository in which one mutant after the other is tried."""

    copy: Path
    tests: str
    seconds: int
    sound: set[str] = field(default_factory=set)
    left_out: set[str] = field(default_factory=set)

    def try_mutant(self, mutant: Mutant) -> dict[str, object]:
        """Apply the mutant, test, and undo it."""
        began = time.perf_counter()
        state, by = "survived", ""
        for files in in_order(self.copy, self.tests, mutant):
            state, by = self.run_broken(mutant, files)
            while state == "killed" and not self.is_sound(by):
                print(f"left out, fails without a mutant: {by}", file=sys.stderr, flush=True)
                state, by = self.run_broken(mutant, files)
            if state != "survived":
                break
        return {"state": state, "by": by, "seconds": round(time.perf_counter() - began, 1)}

    def run_broken(self, mutant: Mutant, files: list[str]) -> tuple[str, str]:
        path = self.copy / mutant.path
        source = path.read_bytes()
        try:
            path.write_bytes(mutant.apply(source))
            return run_tests(self.copy, files, self.seconds, self.left_out)
        finally:
            path.write_bytes(source)

    def is_sound(self, test: str) -> bool:
        if test not in self.sound:
            alone = run_tests(self.copy, [test], self.seconds)
            (self.sound if alone[0] == "survived" else self.left_out).add(test)
        return test in self.sound


def diff(root: Path, mutant: Mutant) -> str:
    """The change as a reader of patches knows it."""
    source = (root / mutant.path).read_bytes()
    before, after = (s.decode().splitlines(True) for s in (source, mutant.apply(source)))
    return "".join(difflib.unified_diff(before, after, mutant.path, mutant.kind, n=1))


def print_of(folder: Path) -> str:
    """A fingerprint of the Python files in a folder."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        found.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


def report(root: Path, results: dict[str, dict], chosen: list[Mutant]) -> Iterator[str]:
    """Yield what no test noticed, and the score."""
    states = Counter(results[mutant.name]["state"] for mutant in chosen)
    for mutant in chosen:
        if results[mutant.name]["state"] == "survived":
            yield diff(root, mutant)
    noticed, total = len(chosen) - states["survived"], len(chosen)
    seconds = sum(results[mutant.name]["seconds"] for mutant in chosen) / total
    yield (
        f"{noticed} of {total} noticed ({noticed / total:.1%}), {states['endless']} of them by "
        f"never ending; {states['survived']} survived; {seconds:.0f} s a mutant"
    )


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the command; 1 when the tests fail without any mutant."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--number", type=int, default=300, help="mutants to draw (default 300)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (default 1)")
    parser.add_argument("--package", default="src/transformer", help="what is broken")
    parser.add_argument("--tests", default="tests/transformer", help="what should notice")
    parser.add_argument("--results", type=Path, help="default: .scratch/mutants-SEED.json")
    parser.add_argument("--seconds", type=int, default=300, help="processor time of a test run")
    parser.add_argument("--no-baseline", action="store_true", help="trust the tests as they are")
    args = parser.parse_args(arguments)
    kept = args.results or root / ".scratch" / f"mutants-{args.seed}.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    everything = mutants(root, args.package)
    number = min(args.number, len(everything))
    # one order for all numbers: a larger sample holds the smaller one
    chosen = random.Random(args.seed).sample(everything, len(everything))[:number]
    sources = {mutant.path: (root / mutant.path).read_bytes() for mutant in chosen}
    prints = {path: hashlib.sha256(source).hexdigest() for path, source in sources.items()}
    results = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    tests = print_of(root / args.tests)
    results = {
        name: r
        for name, r in results.items()
        if r["file"] == prints.get(r["path"], r["file"])
        and (r["state"] != "survived" or r.get("tests") == tests)
    }
    todo = [mutant for mutant in chosen if mutant.name not in results]
    print(f"{number} of {len(everything)} mutants, {len(todo)} to try", flush=True)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder)
        for name in COPIED:
            if (root / name).is_dir():
                shutil.copytree(root / name, copy / name)
            elif (root / name).exists():
                shutil.copy(root / name, copy / name)
        if todo and not args.no_baseline:
            state, by = run_tests(copy, [args.tests], args.seconds)
            if state != "survived":
                print(f"the tests fail without a mutant: {by or state}", file=sys.stderr)
                return 1
        trial = Trial(copy, args.tests, args.seconds)
        for mutant in todo:
            result = trial.try_mutant(mutant)
            results[mutant.name] = {
                **asdict(mutant),
                "file": prints[mutant.path],
                "tests": tests,
            } | result
            kept.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
            print(f"{result['state']:9}{result['seconds']:6} s  {mutant.name}", flush=True)
    print("\n".join(report(root, results, chosen)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
