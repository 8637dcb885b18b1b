"""The checks of chapter 08's exercises."""

from walkthrough.ch08_residuals_and_layer_norm.checks.blocks import which_block
from walkthrough.ch08_residuals_and_layer_norm.checks.norms import layer_norm
from walkthrough.ch08_residuals_and_layer_norm.checks.residuals import share_left

__all__ = ["layer_norm", "share_left", "which_block"]
