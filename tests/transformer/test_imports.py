"""Imports point one way: data, training, inference, analysis → model → parts → config."""

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src"
RANK = {  # a module may import from a lower rank, or from its own folder
    "config": 0,
    "masks": 1,
    "attention": 1,
    "feed_forward": 1,
    "embedding": 1,
    "positional": 1,
    "layers": 2,
    "model": 3,
    "data": 4,
    "analysis": 5,
    "training": 5,
    "inference": 5,
    "export": 6,
    "cli": 7,
    "__main__": 8,
}


def imported_modules(source: str) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.append(node.module)
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return names


def wrong_way_imports(module: str, source: str) -> list[str]:
    """Imports of the package `transformer` that point up, or at the package for readers."""
    folder = module.split(".")[0]
    wrong = []
    for name in imported_modules(source):
        parts = name.split(".")
        if parts[0] == "walkthrough":
            wrong.append(name)
        elif parts[0] == "transformer" and len(parts) > 1 and parts[1] != folder:
            between_parts = RANK[parts[1]] == RANK[folder] == 1
            if not (RANK[parts[1]] < RANK[folder] or between_parts):
                wrong.append(name)
    return wrong


MODULES = sorted((SRC / "transformer").rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SRC)))
def test_imports_point_one_way(path):
    module = ".".join(path.relative_to(SRC / "transformer").with_suffix("").parts)
    if module != "__init__":
        assert not wrong_way_imports(module, path.read_text())


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("attention", "from transformer.model import Transformer"),
        ("model", "import transformer.inference.cache"),
        ("inference.beam", "from transformer.training.loss import cross_entropy"),
        ("layers", "from walkthrough.source import show"),
    ],
)
def test_the_rule_rejects(module, source):
    assert wrong_way_imports(module, source)
