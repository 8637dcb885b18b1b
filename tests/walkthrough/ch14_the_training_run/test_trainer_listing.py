"""Chapter 14 shows every line of the trainer: each class, function and method is in a listing."""

import ast
import inspect
from pathlib import Path

import nbformat

from transformer.training import trainer

CHAPTER = Path(__file__).parents[3] / "book" / "14-the-training-run.ipynb"


def parts(source):
    """Names of a module's functions and classes, and of a class's methods in place of the class."""
    found = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            methods = [part.name for part in node.body if isinstance(part, ast.FunctionDef)]
            found |= {f"{node.name}.{name}" for name in methods} or {node.name}
        elif isinstance(node, ast.FunctionDef):
            found.add(node.name)
    return found


def shown(code):
    """Names that stand in calls of show."""
    return {
        ast.unparse(argument)
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "show"
        for argument in node.args
    }


def missing(code, source):
    """Parts of the source that no call shows; a class that is shown has all its methods."""
    names = shown(code)
    return {part for part in parts(source) if not {part, part.partition(".")[0]} & names}


def test_no_part_of_the_trainer_is_left_out():
    notebook = nbformat.read(CHAPTER, as_version=4)
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    assert missing(code, inspect.getsource(trainer)) == set()


def test_a_part_that_is_left_out_would_be_seen():
    source = (
        "class A:\n    def f(self): ...\n    def g(self): ...\ndef h(): ...\nclass B:\n    x = 1\n"
    )
    assert missing("show(A.f, h)", source) == {"A.g", "B"}
    assert missing("show(A, B)\nshow(h)", source) == set()
