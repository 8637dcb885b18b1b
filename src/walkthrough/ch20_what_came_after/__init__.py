"""What chapter 20 alone uses."""
