"""What chapter 03, masks (§3.1, 3.2.3), alone uses."""
