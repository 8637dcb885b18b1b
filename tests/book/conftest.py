"""The notebook tools live outside the packages; let the tests of this folder import them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
