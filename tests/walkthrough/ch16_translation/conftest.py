"""A recorded run, as `tools/record_run.py` writes it."""

import pytest


@pytest.fixture
def run():
    """Return a function that makes one."""
    return made


def made(*, seed=1, training=(), **changes):
    model = {"vocab_size": 900, "d_model": 64, "n_heads": 2, "n_layers": 2, "d_ff": 128}
    return {
        "seed": seed,
        "settings": {
            "data": {"source_language": "en", "target_language": "de", "merges": 50},
            "model": model | {"norm": "post", "dropout": 0.3, "residual_init": "scaled"},
            "training": {
                "smoothing": 0.1,
                "schedule": "linear",
                "peak": 0.003,
                "warmup": 800,
                "max_tokens": 512,
                "accumulate": 4,
                **dict(training),
            },
        },
        "curve": [
            {"update": 1.0, "tokens": 1900.0, "valid_perplexity": 90.0},
            {"update": 10.0, "tokens": 18970.0, "valid_perplexity": 6.0, "seconds": 150.0},
        ],
        **changes,
    }
