"""Every test runs with the shapes in our signatures enforced and one torch thread."""

import torch
from jaxtyping import install_import_hook

install_import_hook(["transformer", "walkthrough"], "beartype.beartype")
torch.set_num_threads(1)
