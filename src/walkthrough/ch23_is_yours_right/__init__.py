"""What chapter 23 alone uses."""
