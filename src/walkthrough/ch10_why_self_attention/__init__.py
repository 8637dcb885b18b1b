"""What chapter 10, why self-attention (§4), alone uses."""
