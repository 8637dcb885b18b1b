"""The figures of chapter 20."""
