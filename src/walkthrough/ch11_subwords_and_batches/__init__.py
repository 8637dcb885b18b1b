"""What chapter 11, subwords and batches (§5.1), alone uses."""
