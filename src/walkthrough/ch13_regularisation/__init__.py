"""What chapter 13, regularisation (§5.4), alone uses."""
