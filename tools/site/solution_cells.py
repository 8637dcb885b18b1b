"""A Sphinx extension: the code of a solution stands inside the box of its text.

In the notebook it is a cell of its own, below the text and tagged `solution`, so that it runs, and
so that JupyterLab and Colab can fold it.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx_exercise.nodes import exercise_enumerable_node, exercise_node, solution_node

TAG = "tag_solution"


class SolutionCells(SphinxTransform):
    """Move each cell tagged `solution` into the solution right before it."""

    default_priority = 11

    def apply(self, **kwargs: Any) -> None:
        """Move the cells, and give ids of their own to what every exercise would share."""
        for cell in list(self.document.findall(nodes.container)):
            if TAG in cell["classes"]:
                place = cell.parent.index(cell)
                before = cell.parent[place - 1] if place else None
                if not isinstance(before, solution_node):
                    raise ValueError(f"{self.env.docname}: a solution after no text")
                cell.parent.remove(cell)
                _content(before).append(cell)
        for kind in (exercise_node, exercise_enumerable_node, solution_node):
            for box in self.document.findall(kind):
                _content(box)["ids"] = [f"{box['ids'][0]}-content"]


def _content(box: nodes.Element) -> nodes.Element:
    return next(box.findall(nodes.section), box)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transform."""
    app.add_transform(SolutionCells)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
