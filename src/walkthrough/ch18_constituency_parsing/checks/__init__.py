"""The checks of chapter 18."""
