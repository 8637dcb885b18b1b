"""The experiments of chapter 16."""
