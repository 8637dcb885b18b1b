"""Mutation testing: break the package in small ways, and see whether its tests notice.

    .venv/bin/python -m tools.verify.mutate --number 300 --seed 7
    .venv/bin/python -m tools.verify.mutate --package walkthrough.checking --number 100

draws that many places of the package, changes one at a time in a copy of the repository, and runs
the tests of the same folder under `tests`, first the files that the changed module belongs to,
until one fails. What no test notices is printed as a patch, which `git apply -p0` puts on, so that
a new test can be tried on it. All tests must pass before: one that fails anyway notices everything.

Why not a tool of others: mutmut (3.8) changes nothing outside functions, where defaults and presets
stand, and nothing in a function with a decorator. Cosmic Ray (8.7) runs one command for every
mutant, and neither removes arguments nor statements. Neither draws a sample.
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
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = shutil.ignore_patterns(".venv", "_build", "node_modules", ".scratch", "__pycache__")

OPPOSITES: dict[type[ast.AST], type[ast.AST]] = {
    one: other
    for pair in (
        (ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot),
        (ast.In, ast.NotIn), (ast.And, ast.Or), (ast.Add, ast.Sub), (ast.Mult, ast.Div),
        (ast.BitOr, ast.BitAnd),
    )
    for one, other in (pair, pair[::-1])
} | {ast.FloorDiv: ast.Div, ast.Mod: ast.Mult, ast.Pow: ast.Mult}  # fmt: skip


# Arguments that no test can tell apart: words for people, how thick a line is, what Linux does
# anyway, and guards that right code never meets.
WORDS = frozenset({"help", "metavar", "description", "epilog", "unit", "encoding", "indent"})
WORDS |= {"linewidth", "fontsize"}
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


def run_tests(copy: Path, files: list[str], seconds: int) -> str:
    """Run pytest on files of the copy until one test fails; what became of the mutant."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--tb=no", "--show-capture=no"]
    settings = {
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}",
    }
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", *files],
        cwd=copy,
        env={**os.environ, **settings},
        # processor time: waiting for other programs is not counted
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode in (0, 5):  # 5: no tests in these files
        return "survived"
    return "endless" if done.returncode < 0 else "killed"


def try_mutant(copy: Path, tests: str, mutant: Mutant, seconds: int) -> str:
    """Apply the mutant, test, and undo it; what became of it."""
    path = copy / mutant.path
    source = path.read_bytes()
    state = "survived"
    try:
        path.write_bytes(mutant.apply(source))
        for files in in_order(copy, tests, mutant):
            if state == "survived":
                state = run_tests(copy, files, seconds)
    finally:
        path.write_bytes(source)
    return state


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
        copy = shutil.copytree(root, Path(folder) / "copy", symlinks=True, ignore=LEFT_OUT)
        for mutant in chosen:
            state = try_mutant(copy, tests, mutant, given.seconds)
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
