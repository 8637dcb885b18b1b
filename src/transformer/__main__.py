"""`python -m transformer train | translate | evaluate | average | export`."""

import sys

from transformer.cli import main

if __name__ == "__main__":
    sys.exit(main())
