"""What chapter 02, scaled dot-product attention (§3.2.1), alone uses."""
