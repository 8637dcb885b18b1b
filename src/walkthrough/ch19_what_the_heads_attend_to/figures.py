"""The figures of chapter 19."""
