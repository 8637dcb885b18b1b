"""What chapter 04, multi-head attention (§3.2.2), alone uses."""
