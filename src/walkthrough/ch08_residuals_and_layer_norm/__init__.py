"""What chapter 08, residuals and layer norm (§3.1), alone uses."""
