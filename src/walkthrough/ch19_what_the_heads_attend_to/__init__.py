"""What chapter 19, what the heads attend to (Figures 3–5), alone uses."""
