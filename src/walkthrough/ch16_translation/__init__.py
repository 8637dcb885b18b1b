"""What chapter 16, translation (§6.1, Table 2), alone uses."""
