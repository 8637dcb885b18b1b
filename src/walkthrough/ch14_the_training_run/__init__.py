"""What chapter 14, the training run (§5), alone uses."""
