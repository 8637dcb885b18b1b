"""What chapter 21 alone uses."""
