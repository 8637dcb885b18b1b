"""Somebody's file: its definitions are run, and the model in it is found and built small.

Code is executed: run only what you would run anyway. Loops and calls at the top level of a file,
which would train or load data, are left out; what fails is remembered, and told if it is missed.
"""

import ast
import inspect
import json
import sys
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from torch import nn

RUN = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
GUESSES: dict[tuple[str, ...], Any] = {
    ("pad",): 0,
    ("vocab", "voc_", "n_token", "ntoken", "num_tokens", "n_words", "src_size", "tgt_size"): 60,
    ("dropout", "drop", "p_drop"): 0.1,
    ("head", "nhead"): 4,
    ("d_k", "d_v", "head_dim", "dim_head"): 8,
    ("ff", "hidden", "inner", "forward", "expansion", "pf_dim"): 64,
    ("layer", "depth", "n_block", "num_block"): 2,
    ("len", "seq", "position"): 64,
    ("d_model", "dim", "emb", "d_emb", "width", "model_size"): 32,
    ("device",): "cpu",
}
"""Sizes of a small model, by the words that names of parameters have."""


class NoModelError(ValueError):
    """The file has no model that could be built; the message says why, and what to write."""


def load(path: Path, name: str = "") -> Iterator[nn.Module]:
    """Yield the models of a file that can be built, the likeliest first.

    Raises:
        NoModelError: there is none.
    """
    module, skipped = definitions(path)
    found, failed = vars(module), list(skipped)
    if name and name not in found:
        raise NoModelError(f"{path.name} defines no {name!r}.{_told(failed)}")
    own = [v for v in found.values() if getattr(v, "__module__", "") == module.__name__]
    instances = [v for v in found.values() if isinstance(v, nn.Module)]
    builders = [
        v for v in own if inspect.isfunction(v) and v.__name__.startswith(("build", "make"))
    ]
    classes = [v for v in own if inspect.isclass(v) and issubclass(v, nn.Module)]
    tried: list[Any] = [found[name]] if name else [*instances, *builders, *reversed(classes)]
    n = 0
    for one in tried:
        try:
            built = one if isinstance(one, nn.Module) else one(**sized(one))
        except Exception as error:  # whatever somebody's code raises
            failed.append(f"{getattr(one, '__name__', one)}(…): {type(error).__name__}: {error}")
            continue
        if isinstance(built, nn.Module):
            n += 1
            yield built
    if not n:
        raise NoModelError(
            f"no model could be built from {path.name}.{_told(failed)}\n"
            "Write a function that builds a small one, and name it:\n\n"
            "    def build():\n        return Transformer(…)  # d_model 32, 2 layers, 60 words\n\n"
            f"    python -m walkthrough.doctor {path.name}:build"
        )


def _told(failed: list[str]) -> str:
    return "".join(f"\n  {one}" for one in failed[:8])


def sized(builder: Any, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a value for each parameter that has no default, and small sizes for those that have.

    `known` has other sizes, by the first of the words that `GUESSES` looks for.

    Raises:
        TypeError: nothing is known for a parameter.
    """
    sizes = {}
    for name, parameter in inspect.signature(builder).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        fits = (
            (known or {}).get(words[0], v)
            for words, v in GUESSES.items()
            if any(w in name.lower() for w in words)
        )
        guess = next(fits, None)
        if guess is None and parameter.default is parameter.empty:
            raise TypeError(f"no value is known for its parameter {name!r}")
        if parameter.default is parameter.empty or type(parameter.default) is type(guess):
            sizes[name] = guess
    return sizes


def definitions(path: Path) -> tuple[types.ModuleType, list[str]]:
    """Run the imports, functions, classes and assignments of a file; return what was left out.

    Raises:
        NoModelError: the file is not there, or is not Python.
    """
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":
            cells = [c for c in json.loads(text)["cells"] if c["cell_type"] == "code"]
            lines = "\n".join("".join(cell["source"]) for cell in cells).split("\n")
            text = "\n".join(
                "pass" if line.lstrip()[:1] in "%!?" and line.strip() else line for line in lines
            )
        tree = ast.parse(text, str(path))
    except (OSError, SyntaxError, ValueError, KeyError) as error:
        raise NoModelError(f"{path}: {type(error).__name__}: {error}") from error
    module = types.ModuleType(path.stem.replace("-", "_"))
    module.__file__, module.__package__ = str(path), path.parent.name
    sys.modules[module.__name__] = module
    sys.path[:0] = [str(folder) for folder in path.resolve().parents[:3]]
    left: list[str] = []
    for node in tree.body:
        if not isinstance(node, RUN):
            if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
                left.append(f"line {node.lineno}: {type(node).__name__} at the top level, not run")
            continue
        try:
            exec(compile(ast.Module([node], []), str(path), "exec"), vars(module))
        except (Exception, SystemExit) as error:
            left.append(f"line {node.lineno}: {type(error).__name__}: {error}")
    left.sort(key=lambda said: said.endswith("not run"))
    return module, left
