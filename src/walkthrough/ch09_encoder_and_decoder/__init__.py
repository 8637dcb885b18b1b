"""What chapter 09, encoder and decoder (§3), alone uses."""
