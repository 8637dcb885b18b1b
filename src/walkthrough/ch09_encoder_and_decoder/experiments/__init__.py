"""The experiments of chapter 09."""
