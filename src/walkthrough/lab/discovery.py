"""Finding declarations: `EXPERIMENT` or `EXPERIMENTS` in `walkthrough.chNN_*.experiments`.

Rooms are imported by name when they are asked for; this package imports none of them.
"""

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from types import ModuleType

import walkthrough
from walkthrough.lab.experiment import Experiment, unknown


@cache
def declarations(chapter: str = "") -> dict[str, Experiment]:
    """Return every experiment by name, in the order of the chapters; of one chapter, two digits.

    Raises:
        ValueError: two have one name, or one stands in another chapter's room.
    """
    return {name: experiment for name, (experiment, _) in _declared(chapter).items()}


def find(name: str) -> Experiment:
    """Return the experiment of that name; only the room of its chapter is imported.

    Raises:
        KeyError: there is none, with the near ones.
    """
    declared = declarations(name[:2]) if name[:2].isdigit() else {}
    if name not in declared:
        raise KeyError(unknown("experiment", name, declarations()))
    return declared[name]


def module_of(experiment: Experiment) -> str | None:
    """Return the module that declares an experiment, or None."""
    declared = _declared(experiment.name[:2]).get(experiment.name)
    return declared[1] if declared else None


@cache
def _declared(chapter: str) -> dict[str, tuple[Experiment, str]]:
    declared: dict[str, tuple[Experiment, str]] = {}
    for module in _modules(chapter):
        many = list(getattr(module, "EXPERIMENTS", []))
        single = getattr(module, "EXPERIMENT", None)
        for experiment in [*([single] if single is not None else []), *many]:
            name, room = experiment.name, module.__name__.split(".")[1]
            if name in declared and declared[name][1] != module.__name__:
                raise ValueError(
                    f"{name!r} is declared in {declared[name][1]} and {module.__name__}"
                )
            if not room.startswith(f"ch{name[:2]}_"):
                raise ValueError(f"{name!r} stands in {room}: a name begins with its chapter")
            declared[name] = (experiment, module.__name__)
    return declared


def _modules(chapter: str) -> Iterator[ModuleType]:
    for room in sorted(info.name for info in pkgutil.iter_modules(walkthrough.__path__)):
        if not room.startswith(f"ch{chapter}"):
            continue
        package = importlib.import_module(f"walkthrough.{room}")
        if "experiments" not in {info.name for info in pkgutil.iter_modules(package.__path__)}:
            continue
        experiments = importlib.import_module(f"walkthrough.{room}.experiments")
        yield experiments
        for info in pkgutil.iter_modules(getattr(experiments, "__path__", [])):
            yield importlib.import_module(f"{experiments.__name__}.{info.name}")
