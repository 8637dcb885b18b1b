"""What chapter 18 alone uses."""
