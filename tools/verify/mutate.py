"""Mutation testing: break the package in small ways, and see whether its tests notice.

    .venv/bin/python -m tools.verify.mutate --number 300 --seed 7
    .venv/bin/python -m tools.verify.mutate --package walkthrough.checking --number 100

draws that many places of the package, changes one at a time in a copy of the repository, and runs
the tests of the same folder under `tests`, first the files that the changed module belongs to,
until one fails. What no test notices is printed as a patch, which `git apply -p0` puts on, so that
a new test can be tried on it. A test that fails in the copy without any mutant notices nothing: the
first time a test fails, it is run alone with the mutant undone, and left out if it fails again.

Why not a tool of others: mutmut (3.8) changes nothing outside functions, where defaults and presets
stand, and nothing in a function with a decorator, a `property` or `torch.no_grad` for instance.
Cosmic Ray (8.7) runs one command for every mutant, here two minutes of tests, and neither removes
arguments nor statements. Neither draws a sample.
"""

import argparse
import ast
import difflib
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

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
    """The test files in two groups, the likelier to notice first.

    Those of the module or of the package that holds it and those that name it; the rest.
    """
    path = Path(mutant.path).with_suffix("")
    module, dotted = path.stem, ".".join(path.parts[1:])
    brought = rf"from {re.escape(dotted.rpartition('.')[0])} import .*\b{module}\b"
    own: list[str] = []
    rest: list[str] = []
    for file in sorted((root / tests).rglob("test_*.py")):
        named = re.search(rf"\b{re.escape(dotted)}\b|{brought}", file.read_text(encoding="utf-8"))
        near = file.stem in (f"test_{module}", f"test_{path.parent.name}")
        (own if near or named else rest).append(str(file.relative_to(root)))
    return [group for group in (own, rest) if group]


def run_tests(
    copy: Path, files: list[str], seconds: int, without: Iterable[str] = ()
) -> tuple[str, str]:
    """Run pytest on files of the copy until one fails; what happened, and in which test."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--tb=no", "--show-capture=no"]
    command += ["-p", "no:cacheprovider", *files, *(f"--deselect={test}" for test in without)]
    settings = {
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}",
    }
    done = subprocess.run(
        command,
        cwd=copy,
        env={**os.environ, **settings},
        # processor time: waiting for other programs is not counted
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode in (0, 5):  # 5: no tests in these files
        return "survived", ""
    if done.returncode < 0:
        return "endless", ""
    failed = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", done.stdout, flags=re.MULTILINE)
    return "killed", failed[0] if failed else files[0]


@dataclass
class Trial:
    """A copy of the repository in which one mutant after the other is tried."""

    copy: Path
    tests: str
    seconds: int
    sound: set[str] = field(default_factory=set)
    left_out: set[str] = field(default_factory=set)

    def try_mutant(self, mutant: Mutant) -> str:
        """Apply the mutant, test, and undo it; what became of it."""
        for files in in_order(self.copy, self.tests, mutant):
            state, by = self.run_broken(mutant, files)
            while state == "killed" and not self.is_sound(by):
                print(f"left out, fails without a mutant: {by}", file=sys.stderr, flush=True)
                state, by = self.run_broken(mutant, files)
            if state != "survived":
                return state
        return "survived"

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
    """The change as a patch."""
    source = (root / mutant.path).read_bytes()
    before, after = (s.decode().splitlines(True) for s in (source, mutant.apply(source)))
    return "".join(difflib.unified_diff(before, after, mutant.path, mutant.path, n=1))


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Draw, try, and say what no test noticed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--number", type=int, default=300, help="mutants to draw (default 300)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (default 1)")
    parser.add_argument("--package", default="transformer", help="walkthrough.checking, …")
    parser.add_argument("--seconds", type=int, default=300, help="processor time of a test run")
    given = parser.parse_args(arguments)
    package, tests = (f"{top}/{given.package.replace('.', '/')}" for top in ("src", "tests"))
    everything = mutants(root, package)
    # one order for all numbers: a larger sample holds the smaller one
    chosen = random.Random(given.seed).sample(everything, len(everything))[: given.number]
    print(f"{len(chosen)} of {len(everything)} mutants", flush=True)
    states: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        for name in filter(lambda name: (root / name).exists(), COPIED):
            copy = shutil.copytree if (root / name).is_dir() else shutil.copy
            copy(root / name, Path(folder) / name)
        trial = Trial(Path(folder), tests, given.seconds)
        for mutant in chosen:
            state = trial.try_mutant(mutant)
            states[state] += 1
            print(f"{state:9} {mutant.path}:{mutant.line} {mutant.kind}", flush=True)
            if state == "survived":
                print(diff(root, mutant), flush=True)
    noticed = len(chosen) - states["survived"]
    print(
        f"{noticed} of {len(chosen)} noticed ({noticed / len(chosen):.1%}), {states['endless']} of "
        f"them by never ending; {states['survived']} survived"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
