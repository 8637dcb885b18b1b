"""What runs inside a library's environment: `python -m tools.verify.libraries.inside ADAPTER`."""

import json
import sys
import warnings
from importlib import import_module

import torch

MARK = "the row: "


def main(adapter: str) -> None:
    """Print the row that an adapter measures, on one line."""
    warnings.simplefilter("ignore")  # of their insides
    torch.set_num_threads(1)
    module = import_module(f"tools.verify.libraries.adapters.{adapter}")
    with torch.no_grad():
        row = module.measure()
    print(MARK + json.dumps(row, ensure_ascii=False))


if __name__ == "__main__":
    main(sys.argv[1])
