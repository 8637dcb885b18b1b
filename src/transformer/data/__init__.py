"""Corpora, vocabularies and batches (Section 5.1)."""
