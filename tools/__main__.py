"""Every command of the house, with or without make: `python -m tools COMMAND`."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 (this file alone is read by older ones)
    sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0])

from tools.environment.commands import main

sys.exit(main(sys.argv[1:]))
