"""What a record says of how a run was trained: its settings beside published ones, its cost (§6.1).

A run is what `tools/record_run.py` makes of a run folder: settings, curve and evaluations.
"""

from collections.abc import Mapping
from typing import Any

from transformer.analysis.cost import forward_flops, parameter_count
from transformer.config import TransformerConfig
from walkthrough.ch16_translation.experiments.published import UNKNOWN, PublishedRun

Run = Mapping[str, Any]
Decoding = Mapping[str, Any]


def settings_of(run: Run, decoding: Decoding) -> dict[str, Any]:
    """Return a run's setting by the names of `PublishedRun.settings`.

    `decoding` has `beam`, `alpha` and `average`. Adam's constants are those of
    `transformer.training.trainer`: no setting changes them. The tokens of an update are counted,
    over all its batches.
    """
    data, model, training = (run["settings"][part] for part in ("data", "model", "training"))
    schedule = {"linear": "linear, down to 0", "noam": "inverse square root"}
    start = {"scaled": "scaled by (2N)^−0.5", "xavier": "plain Xavier"}
    return {
        "layers": model["n_layers"],
        "d_model": model["d_model"],
        "d_ff": model["d_ff"],
        "heads": model["n_heads"],
        "norm": model["norm"],
        "start of the residual branches": start.get(model["residual_init"], model["residual_init"]),
        "dropout": model["dropout"],
        "label smoothing": training["smoothing"],
        "R-Drop": training.get("r_drop") or "none",
        "merges, joint": data["merges"],
        "Adam's β1 and β2": "0.9 and 0.98",
        "schedule": schedule.get(training["schedule"], training["schedule"]),
        "peak rate": training["peak"],
        "warm-up updates": training["warmup"],
        "tokens an update": _tokens_an_update(run),
        "updates": round(run["curve"][-1]["update"]),
        "checkpoints averaged": decoding["average"],
        "beam": decoding["beam"],
        "length penalty": f"α = {decoding['alpha']}" if decoding["beam"] > 1 else "none",
    }


def _tokens_an_update(run: Run) -> str:
    last = run["curve"][-1]
    mean = last["tokens"] / last["update"]
    return f"about {round(mean, -2 if mean > 1000 else -1):.0f}"


def setting_rows(published: PublishedRun, ours: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the two settings side by side in words, a row a name.

    `same` is "✓" or "✗", and "?" where the published one is not known.

    Raises:
        ValueError: the two name different settings.
    """
    if set(ours) != set(published.settings):
        raise ValueError(
            "both settings need the same names; they differ in "
            f"{sorted(set(ours) ^ set(published.settings))}"
        )
    return [
        {
            "same": _agreement(value, ours[name]),
            "setting": name,
            "published": str(value),
            "ours": str(ours[name]),
        }
        for name, value in published.settings.items()
    ]


def _agreement(published: object, ours: object) -> str:
    if published == UNKNOWN:
        return "?"
    return "✓" if published == ours else "✗"


def n_parameters(run: Run) -> int:
    """Return the number of a run's parameters."""
    return parameter_count(TransformerConfig.from_dict(dict(run["settings"]["model"])))


def run_flops(run: Run, *, length: int = 15) -> float:
    """Return a run's training FLOPs, counted: forward times 3, over all target tokens.

    R-Drop runs the model on each of them twice. Sources are taken to be as long as targets, and
    every sentence `length` tokens long; the length hardly matters.

    Raises:
        ValueError: the length is not positive.
    """
    config = TransformerConfig.from_dict(dict(run["settings"]["model"]))
    forward = forward_flops(config, source_len=length, target_len=length).total
    passes = 2 if run["settings"]["training"].get("r_drop") else 1
    return 3 * forward * passes * run["curve"][-1]["tokens"] / length
