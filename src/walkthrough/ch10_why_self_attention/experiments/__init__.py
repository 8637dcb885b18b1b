"""The experiments of chapter 10."""
