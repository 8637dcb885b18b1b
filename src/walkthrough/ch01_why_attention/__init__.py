"""What chapter 01, why attention (§1–2), alone uses."""
