"""The lab notebook goes through the whole trainer: each class, function and method has a row."""

import ast
import inspect
import re
from pathlib import Path

from transformer.training import trainer

NOTEBOOK = Path(__file__).parents[3] / "book" / "lab-notebook.md"
ROW = re.compile(r"^\| `([\w.]+)` \|", re.MULTILINE)


def parts(source):
    """Names of a module's functions and classes, and of a class's methods in place of the class.

    A class whose name begins with an underscore is one part.
    """
    found = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            methods = [part.name for part in node.body if isinstance(part, ast.FunctionDef)]
            public = not node.name.startswith("_")
            named = {f"{node.name}.{name}" for name in methods} if public else set()
            found |= named or {node.name}
        elif isinstance(node, ast.FunctionDef):
            found.add(node.name)
    return found


def test_every_part_of_the_trainer_has_a_row_and_every_row_a_part():
    section = NOTEBOOK.read_text(encoding="utf-8").split("### A trainer, method by method")[1]
    table = section.split("\n### ")[0].split("\n## ")[0]
    assert set(ROW.findall(table)) == parts(inspect.getsource(trainer))


def test_parts_are_methods_functions_and_classes_without_methods():
    source = (
        "class A:\n    def f(self): ...\n    def g(self): ...\ndef h(): ...\n"
        "class B:\n    x = 1\nclass _C:\n    def f(self): ...\n"
    )
    assert parts(source) == {"A.f", "A.g", "h", "B", "_C"}
