"""`python -m transformer train | translate | evaluate | average | export`."""

import sys

if __name__ == "__main__":
    try:
        from transformer.cli import main  # loads torch, a second or more
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    sys.exit(main())
