"""What chapter 07, positional encoding (§3.5), alone uses."""
