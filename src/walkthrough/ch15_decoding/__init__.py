"""What chapter 15, decoding (§6.1), alone uses."""
