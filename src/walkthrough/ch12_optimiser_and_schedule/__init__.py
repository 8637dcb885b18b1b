"""What chapter 12, optimiser and schedule (§5.2–5.3), alone uses."""
