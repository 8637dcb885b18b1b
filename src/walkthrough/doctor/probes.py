"""The probes in their order: what later ones ask of earlier ones is known by then."""

from collections.abc import Callable

from walkthrough.doctor import behaviour, positions, structure, weights
from walkthrough.doctor.behaviour import first_loss
from walkthrough.doctor.examination import Examination
from walkthrough.doctor.training import with_step

__all__ = ["PROBES", "first_loss", "with_step"]

PROBES: list[tuple[str, Callable[[Examination], bool | None]]] = [
    ("output", behaviour.output),
    ("repeatable", behaviour.repeatable),
    ("not a number", behaviour.not_a_number),
    ("future", behaviour.future),
    ("source", behaviour.source),
    ("words", behaviour.words),
    ("padding", behaviour.padding),
    ("batch", behaviour.batch),
    ("order", behaviour.order),
    ("no_grad", behaviour.without_gradients),
    ("no gradient", weights.no_gradient),
    ("not registered", weights.not_registered),
    ("one layer", weights.one_layer),
    ("ties", weights.ties),
    ("positions", positions.positions),
    ("√d_model", positions.embedding_scale),
    ("heads", structure.heads),
    ("scale", structure.scale),
    ("softmax", structure.softmax),
    ("masks", structure.masks),
    ("memory", structure.memory),
    ("feed-forward", structure.feed_forward),
    ("norm", structure.norms),
    ("norm's place", structure.norm_place),
    ("residual", structure.residual),
    ("dropout", structure.dropout),
]
"""The name of what a probe examines, and the probe; it returns False where it could not."""
