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
    return {name: found for name, (found, _) in _declared(chapter).items()}


def find(name: str) -> Experiment:
    """Return the experiment of that name; only the room of its chapter is imported.

    Raises:
        KeyError: there is none, with the near ones.
    """
    found = declarations(name[:2]) if name[:2].isdigit() else {}
    if name not in found:
        raise KeyError(unknown("experiment", name, declarations()))
    return found[name]


def module_of(experiment: Experiment) -> str | None:
    """Return the module that declares an experiment, or None."""
    found = _declared(experiment.name[:2]).get(experiment.name)
    return found[1] if found else None


@cache
def _declared(chapter: str) -> dict[str, tuple[Experiment, str]]:
    found: dict[str, tuple[Experiment, str]] = {}
    for module in _modules(chapter):
        many = list(getattr(module, "EXPERIMENTS", []))
        one = getattr(module, "EXPERIMENT", None)
        for experiment in [*([one] if one is not None else []), *many]:
            name, room = experiment.name, module.__name__.split(".")[1]
            if name in found and found[name][1] != module.__name__:
                raise ValueError(f"{name!r} is declared in {found[name][1]} and {module.__name__}")
            if not room.startswith(f"ch{name[:2]}_"):
                raise ValueError(f"{name!r} stands in {room}: a name begins with its chapter")
            found[name] = (experiment, module.__name__)
    return found


def _modules(chapter: str) -> Iterator[ModuleType]:
    for room in sorted(info.name for info in pkgutil.iter_modules(walkthrough.__path__)):
        if not room.startswith(f"ch{chapter}"):
            continue
        package = importlib.import_module(f"walkthrough.{room}")
        if "experiments" not in {info.name for info in pkgutil.iter_modules(package.__path__)}:
            continue
        found = importlib.import_module(f"walkthrough.{room}.experiments")
        yield found
        for info in pkgutil.iter_modules(getattr(found, "__path__", [])):
            yield importlib.import_module(f"{found.__name__}.{info.name}")
