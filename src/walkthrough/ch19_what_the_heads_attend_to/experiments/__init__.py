"""The experiments of chapter 19."""
