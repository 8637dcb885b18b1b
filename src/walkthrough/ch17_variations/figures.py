"""The figures of chapter 17."""
