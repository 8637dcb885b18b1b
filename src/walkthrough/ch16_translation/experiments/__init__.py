"""The experiments of chapter 16."""

from walkthrough.ch16_translation.experiments import (
    published,
    recorded_runs,
    run_scores,
    scoring_ways,
)

__all__ = ["published", "recorded_runs", "run_scores", "scoring_ways"]
