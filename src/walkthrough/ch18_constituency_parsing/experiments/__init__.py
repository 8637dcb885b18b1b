"""What chapter 18 trains, counts and compares."""
