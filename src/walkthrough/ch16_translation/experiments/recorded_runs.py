"""What a recorded run cost (§6.1).

A run is what `tools/record_run.py` makes of a run folder: settings, curve and evaluations.
"""

from collections.abc import Mapping
from typing import Any

from transformer.analysis.cost import forward_flops, parameter_count
from transformer.config import TransformerConfig

Run = Mapping[str, Any]


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
