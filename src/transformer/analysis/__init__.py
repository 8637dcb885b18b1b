"""What the paper counts and measures (Sections 4 and 6)."""
