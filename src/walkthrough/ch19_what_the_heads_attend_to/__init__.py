"""What chapter 19 alone uses."""
