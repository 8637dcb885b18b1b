"""Mutation testing: break the package in small ways, and see whether its tests notice.

    .venv/bin/python -m tools.verify.mutate --number 300 --seed 7
    .venv/bin/python -m tools.verify.mutate --package walkthrough.checking --number 100

draws that many places of the package, changes one at a time in a copy of the repository, and runs
the tests of the same folder under `tests`, first the files that the changed module belongs to,
until one fails. What no test notices is printed as a diff. Results are kept after each mutant; the
same command goes on where it stopped, and tries survivors again when a test has changed. A test
that fails in the copy without any mutant notices nothing: the first time a test fails, it is run
alone with the mutant undone, and left out if it fails again.

Why not a tool of others: mutmut (3.8) changes nothing outside functions, where defaults and presets
stand, and nothing in a function with a decorator, a `property` or `torch.no_grad` for instance.
Cosmic Ray (8.7) runs one command for every mutant, here two minutes of tests, and neither removes
arguments nor statements. Neither draws a sample.
"""

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
from typing import Any

import pytest
import torch

Results = dict[str, dict[str, Any]]
ROOT = Path(__file__).resolve().parents[2]
COPIED = ("src", "tests", "tools", "benchmarks", "results", "pyproject.toml", "README.md")

OPPOSITES: dict[type[ast.AST], type[ast.AST]] = {
    one: other
    for pair in (
        (ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot),
        (ast.In, ast.NotIn), (ast.And, ast.Or), (ast.Add, ast.Sub), (ast.Mult, ast.Div),
        (ast.BitOr, ast.BitAnd),
    )
    for one, other in (pair, pair[::-1])
} | {ast.FloorDiv: ast.Div, ast.Mod: ast.Mult, ast.Pow: ast.Mult}  # fmt: skip


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
        """What a result is kept under."""
        return f"{self.path}:{self.line} {self.kind} {self.start} {self.after}"

    def apply(self, source: bytes) -> bytes:
        """The broken file."""
        return source[: self.start] + self.after.encode() + source[self.end :]


def variants(node: ast.AST) -> Iterator[tuple[str, ast.AST, ast.AST]]:
    """Each way to break a node: what kind it is, the part that changes, what it becomes."""
    match node:
        case ast.Compare(ops=ops):
            for place, op in enumerate(ops):
                if type(op) in OPPOSITES:
                    swapped = [*ops[:place], OPPOSITES[type(op)](), *ops[place + 1 :]]
                    yield "comparison", node, changed(node, ops=swapped)
        case ast.BinOp(op=op) if type(op) in OPPOSITES:
            yield "arithmetic", node, changed(node, op=OPPOSITES[type(op)]())
        case ast.BoolOp(op=op):
            yield "boolean", node, changed(node, op=OPPOSITES[type(op)]())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "boolean", node, operand
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)):
            yield "arithmetic", node, ast.Constant(-2)  # the last of two axes is also axis 1
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield "arithmetic", node, operand
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            yield "condition", test, ast.UnaryOp(ast.Not(), test)
        case ast.Constant(value=bool(value)):
            yield "constant", node, ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield "constant", node, ast.Constant(value + 1 if value else 1)
        case ast.Call(keywords=keywords):
            for keyword in counting(node):
                if keyword.arg is not None:
                    others = [other for other in keywords if other is not keyword]
                    yield "argument", node, changed(node, keywords=others)
        case ast.AugAssign() | ast.Raise() | ast.Continue() | ast.Break():
            yield "statement", node, ast.Pass()
        case ast.Expr(value=value) if not isinstance(value, ast.Constant):  # docstrings, `...`
            yield "statement", node, ast.Pass()


def changed(node: ast.AST, **fields: object) -> ast.AST:
    """A copy of a node in which some fields are others."""
    return type(node)(**{**dict(ast.iter_fields(node)), **fields})


def counting(call: ast.Call) -> list[ast.keyword]:
    """The arguments of a call that a test could tell apart."""
    left_alone = WORDS | GUARDS.get(getattr(call.func, "id", ""), set())
    return [keyword for keyword in call.keywords if keyword.arg not in left_alone]


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Every node that may be broken; texts, types and what an error says stay as they are."""
    yield node
    match node:
        case ast.JoinedStr() | ast.Raise() | ast.arg():
            return
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)):
            return
        case ast.AnnAssign(value=value):
            below = [value] if value else []
        case ast.FunctionDef(decorator_list=decorators, args=args, body=body):
            below = [*decorators, args, *body]
        case ast.Call(func=func, args=args):
            below = [func, *args, *(keyword.value for keyword in counting(node))]
        case _:
            below = list(ast.iter_child_nodes(node))
    for child in below:
        yield from walk(child)


def places(path: str, source: bytes) -> Iterator[Mutant]:
    """Every mutant of one file."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in walk(ast.parse(source)):
        for kind, part, other in variants(node):
            start = starts[part.lineno - 1] + part.col_offset
            end = starts[part.end_lineno - 1] + part.end_col_offset
            text = ast.unparse(ast.fix_missing_locations(other))
            after = f"({text})" if isinstance(part, ast.expr) else text
            yield Mutant(path, part.lineno, kind, start, end, after)


def mutants(root: Path, package: str) -> list[Mutant]:
    """Every mutant of every file of the package that is still Python."""
    found = []
    for path in sorted((root / package).rglob("*.py")):
        source = path.read_bytes()
        for mutant in places(path.relative_to(root).as_posix(), source):
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
    mirrored = Path("tests", *path.parent.parts[1:])
    groups: list[list[str]] = [[], [], [], []]
    for file in sorted((root / tests).rglob("test_*.py")):
        named = re.search(rf"\b{re.escape(dotted)}\b|{brought}", file.read_text(encoding="utf-8"))
        folder = file.relative_to(root).parent
        near = folder != Path(tests) and mirrored.is_relative_to(folder)
        rank = 0 if file.stem in its_own else 1 if named else 2 if near else 3
        groups[rank].append(str(file.relative_to(root)))
    own, naming, near_by, rest = groups
    return [group for group in ([*own, *naming], near_by, rest) if group]


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
        """Test while the file is broken."""
        path = self.copy / mutant.path
        source = path.read_bytes()
        try:
            path.write_bytes(mutant.apply(source))
            return run_tests(self.copy, files, self.seconds, self.left_out)
        finally:
            path.write_bytes(source)

    def is_sound(self, test: str) -> bool:
        """Whether a test passes when nothing is broken."""
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


def report(root: Path, results: Results, chosen: list[Mutant]) -> Iterator[str]:
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


def still_valid(results: Results, sources: dict[str, bytes], tests: str) -> Results:
    """The results whose file has not changed; a survivor gets another chance with other tests."""
    prints = {path: hashlib.sha256(source).hexdigest() for path, source in sources.items()}
    return {
        name: result
        for name, result in results.items()
        if result["file"] == prints.get(result["path"], result["file"])
        and (result["state"] != "survived" or result["tests"] == tests)
    }


def copied(root: Path, copy: Path) -> None:
    """Copy what tests need."""
    for name in COPIED:
        if (root / name).is_dir():
            shutil.copytree(root / name, copy / name)
        elif (root / name).exists():
            shutil.copy(root / name, copy / name)


def options() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--number", type=int, default=300, help="mutants to draw (default 300)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (default 1)")
    parser.add_argument("--package", default="transformer", help="walkthrough.checking, …")
    parser.add_argument("--results", type=Path, help="default: .scratch/mutants-PACKAGE-SEED.json")
    parser.add_argument("--seconds", type=int, default=300, help="processor time of a test run")
    parser.add_argument("--no-baseline", action="store_true", help="trust the tests as they are")
    return parser


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the command; 1 when the tests fail without any mutant."""
    args = options().parse_args(arguments)
    package, tests = (f"{top}/{args.package.replace('.', '/')}" for top in ("src", "tests"))
    kept = args.results or root / ".scratch" / f"mutants-{args.package}-{args.seed}.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    everything = mutants(root, package)
    # one order for all numbers: a larger sample holds the smaller one
    chosen = random.Random(args.seed).sample(everything, len(everything))[: args.number]
    sources = {mutant.path: (root / mutant.path).read_bytes() for mutant in chosen}
    fingerprint = print_of(root / tests)
    results = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    results = still_valid(results, sources, fingerprint)
    todo = [mutant for mutant in chosen if mutant.name not in results]
    print(f"{len(chosen)} of {len(everything)} mutants, {len(todo)} to try", flush=True)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copied(root, Path(folder))
        trial = Trial(Path(folder), tests, args.seconds)
        if todo and not args.no_baseline:
            state, by = run_tests(trial.copy, [tests], args.seconds)
            if state != "survived":
                print(f"the tests fail without a mutant: {by or state}", file=sys.stderr)
                return 1
        for mutant in todo:
            known = {"file": hashlib.sha256(sources[mutant.path]).hexdigest(), "tests": fingerprint}
            result = trial.try_mutant(mutant)
            results[mutant.name] = asdict(mutant) | known | result
            kept.write_text(json.dumps(results, indent=1) + "\n")
            print(f"{result['state']:9}{result['seconds']:6} s  {mutant.name}", flush=True)
    print("\n".join(report(root, results, chosen)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
