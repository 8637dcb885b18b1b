"""Experiment 08-residual: models that learn to copy without residual connections (§3.1)."""

from transformer.model import Transformer
from walkthrough.ch08_residuals_and_layer_norm.experiments import without_residuals
from walkthrough.lab import Arm, Experiment, Job
from walkthrough.lab import copying as task
from walkthrough.lab.measures import copied
from walkthrough.lab.tasks import copying


def build(job: Job) -> Transformer:
    """Return a post-norm model of the usual start, with or without residuals."""
    labels = job.arm.labels
    model = task.new_model("post", "xavier", seed=job.seed, n_layers=labels["layers"])
    return model if labels["residual"] else without_residuals(model)


def arm(layers: int, *, residual: bool) -> Arm:
    """Return an arm: so many layers, with or without residuals."""
    name = f"{layers} layer{'s' * (layers > 1)}{'' if residual else ', no residual'}"
    rates = (0.5, 1, 2, 4, 8) if layers == 1 else ()
    return Arm(name, build=build, rates=rates, labels={"layers": layers, "residual": residual})


EXPERIMENT = Experiment(
    name="08-residual",
    question="Does a model learn to copy without residual connections?",
    task=copying(),
    base="4 layers",
    rival="1 layer, no residual",  # that the task needs no residual connection
    arms=[arm(n, residual=residual) for n in (4, 1) for residual in (False, True)],
    rates=(0.25, 0.5, 1, 2),
    rate_seeds=(1, 2),
    choose="new/-/loss",
    lengths=(400,),
    measures=[copied()],
)
