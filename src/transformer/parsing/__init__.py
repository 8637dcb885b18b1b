"""Constituency parsing (Section 6.3): trees, their symbols, a treebank, and their score."""
