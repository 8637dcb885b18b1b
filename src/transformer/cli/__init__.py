"""The command line: `python -m transformer`."""

import os
import sys
from collections.abc import Sequence

from transformer.cli.commands import FAILED, INTERRUPTED
from transformer.cli.parser import make_parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; an error becomes one line on standard error and exit code 1."""
    args = make_parser().parse_args(arguments)
    try:
        code: int = args.command(args)
        return code
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED + 2
    except (ValueError, TypeError, OSError, FloatingPointError, RuntimeError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return FAILED
