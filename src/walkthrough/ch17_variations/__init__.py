"""What chapter 17 alone uses."""
