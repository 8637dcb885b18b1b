"""Names of the package are there when they are asked for, and cost nothing before."""

import subprocess
import sys

CODE = """
import sys
import transformer
assert "torch" not in sys.modules, "the package alone loads nothing"
assert transformer.PAD_ID == 0
assert "torch" not in sys.modules, "nor does its configuration"
assert {*transformer.__all__, "masks"} <= set(dir(transformer))
assert transformer.masks.causal_mask is transformer.causal_mask
assert all(hasattr(transformer, name) for name in transformer.__all__)
assert not hasattr(transformer, "Transfomer")
"""


def test_names_come_on_demand():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
