"""The command line: `python -m transformer`."""

import os
import sys
from collections.abc import Sequence

from transformer.cli.commands import FAILED, INTERRUPTED, USAGE
from transformer.cli.parser import make_parser
from transformer.cli.places import write_utf8
from transformer.cli.usage import UsageError, check_text, one_line


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; an error becomes one line on standard error, and exit code 1 or 2."""
    write_utf8()
    try:
        check_text(sys.argv[1:] if arguments is None else list(arguments))
        args = make_parser().parse_args(arguments)
        code: int = args.command(args)
        return code
    except UsageError as error:
        return _told(error, USAGE)
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED + 2
    except (ValueError, TypeError, OSError, ArithmeticError, RuntimeError, ImportError) as error:
        return _told(error, FAILED)


def _told(error: Exception, code: int) -> int:
    print(f"error: {one_line(error)}", file=sys.stderr)
    return code
