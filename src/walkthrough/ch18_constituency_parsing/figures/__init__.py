"""The figures of chapter 18."""
