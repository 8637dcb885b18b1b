"""Experiment 08-residual: models that learn to copy without residual connections (§3.1)."""

from transformer.model import Transformer
from walkthrough.ch08_residuals_and_layer_norm.experiments import SUBLAYERS, without_residuals
from walkthrough.lab import Arm, Choose, Experiment, Job
from walkthrough.lab import copying as task
from walkthrough.lab.measures import copied
from walkthrough.lab.tasks import copying


def build(job: Job) -> Transformer:
    """Return a post-norm model of the usual start; some sub-layers have no residual."""
    n_layers, without = job.arm.labels["layers"], job.arm.labels["without"]
    model = task.new_model("post", "xavier", seed=job.seed, n_layers=n_layers)
    return without_residuals(model, *without)


def arm(name: str, layers: int, *without: str) -> Arm:
    """Return an arm: so many layers, no residual around these sub-layers."""
    rates = (0.5, 1, 2, 4) if layers == 1 else ()
    seeds = range(1, 6) if len(without) == 1 else ()
    labels = {"layers": layers, "without": without}
    return Arm(name, build=build, rates=rates, seeds=seeds, labels=labels)


EXPERIMENT = Experiment(
    name="08-residual",
    question="Does a model learn to copy without residual connections?",
    task=copying(),
    base="4 layers",
    arms=[
        arm("4 layers", 4),
        arm("4 layers, no residual", 4, *SUBLAYERS),
        arm("1 layer", 1),
        arm("1 layer, no residual", 1, *SUBLAYERS),
        *(arm(f"4 layers, none around {around}", 4, around) for around in SUBLAYERS),
    ],
    seeds=range(1, 11),
    rates=(0.25, 0.5, 1, 2),
    rate_seeds=(1, 2),
    choose=Choose("new/-/loss", length=400),
    lengths=(400, 1200),
    measures=[copied()],
)
