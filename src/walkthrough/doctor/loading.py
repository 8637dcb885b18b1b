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
GUESSES: dict[str, Any] = {
    "pad": 0,
    "vocab voc_ n_token ntoken num_tokens n_words src_size tgt_size": 60,
    "drop": 0.1,
    "head": 4,
    "d_k d_v head_dim dim_head": 8,
    "ff hidden inner forward expansion pf_dim": 64,
    "layer depth n_block num_block": 2,
    "len seq position": 64,
    "d_model dim emb width model_size": 32,
    "device": "cpu",
}
"""Sizes of a small model, by the words that names of parameters have."""


class NoModelError(ValueError):
    """The file has no model that could be built; the message says why, and what to write."""


def load(path: Path, name: str = "") -> Iterator[nn.Module]:
    """Yield the models of a file that can be built, the likeliest first.

    Raises:
        NoModelError: there is none.
    """
    module, failed = definitions(path)
    names = vars(module)
    if name and name not in names:
        raise NoModelError(f"{path.name} defines no {name!r}.{_told(failed)}")
    own = [v for v in names.values() if getattr(v, "__module__", "") == module.__name__]
    functions = [v for v in own if inspect.isfunction(v)]
    tried: list[Any] = [names[name]] if name else []
    if not name:
        tried += [v for v in names.values() if isinstance(v, nn.Module)]
        tried += [v for v in functions if v.__name__.startswith(("build", "make"))]
        tried += [v for v in own[::-1] if inspect.isclass(v) and issubclass(v, nn.Module)]
    none = True
    for maker in tried:
        try:
            built = maker if isinstance(maker, nn.Module) else maker(**sized(maker))
        except Exception as error:  # whatever somebody's code raises
            called = getattr(maker, "__name__", maker)
            failed.append(f"{called}(…): {type(error).__name__}: {error}")
            continue
        if isinstance(built, nn.Module):
            none = False
            yield built
    if none:
        raise NoModelError(
            f"no model could be built from {path.name}.{_told(failed)}\n"
            "Write a function that builds a small one, and name it:\n\n"
            "    def build():\n        return Transformer(…)  # d_model 32, 2 layers, 60 words\n\n"
            f"    python -m walkthrough.doctor {path.name}:build"
        )


def _told(failed: list[str]) -> str:
    return "".join(f"\n  {line}" for line in failed[:8])


def sized(builder: Any, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a value for each parameter that has no default, and small sizes for those that have.

    `known` has other sizes, by the first of the words that `GUESSES` looks for.

    Raises:
        TypeError: nothing is known for a parameter.
    """
    sizes = {}
    for name, given in inspect.signature(builder).parameters.items():
        fits = [
            (known or {}).get(words.split()[0], guess)
            for words, guess in GUESSES.items()
            if any(word in name.lower() for word in words.split())
        ]
        needed = given.default is given.empty
        if given.kind in (given.VAR_POSITIONAL, given.VAR_KEYWORD):
            continue
        if needed and not fits:
            raise TypeError(f"no value is known for its parameter {name!r}")
        if needed or (fits and type(given.default) is type(fits[0])):
            sizes[name] = fits[0]
    return sizes


def definitions(path: Path) -> tuple[types.ModuleType, list[str]]:
    """Run the imports, functions, classes and assignments of a file; return what was left out.

    Raises:
        NoModelError: the file is not there, or is not Python.
    """
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":
            cells = [c["source"] for c in json.loads(text)["cells"] if c["cell_type"] == "code"]
            lines = "\n".join("".join(source) for source in cells).split("\n")
            magic = ("%", "!", "?")
            text = "\n".join("pass" if x.lstrip().startswith(magic) else x for x in lines)
        tree = ast.parse(text, str(path))
    except (OSError, SyntaxError, ValueError, KeyError) as error:
        raise NoModelError(f"{path}: {type(error).__name__}: {error}") from error
    name = path.stem.replace("-", "_")
    module = types.ModuleType(f"{name}_of_file" if name in sys.modules else name)  # torch.py
    module.__file__, module.__package__ = str(path), path.parent.name
    sys.modules[module.__name__] = module
    sys.path[:0] = [str(p) for p in path.resolve().parents[:3] if str(p) not in sys.path]
    left: list[str] = []
    unrun: list[str] = []
    for node in tree.body:
        if isinstance(node, RUN):
            try:
                exec(compile(ast.Module([node], []), str(path), "exec"), vars(module))
            except (Exception, SystemExit) as error:
                left.append(f"line {node.lineno}: {type(error).__name__}: {error}")
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            unrun.append(f"line {node.lineno}: {type(node).__name__} at the top level, not run")
    return module, left + unrun
