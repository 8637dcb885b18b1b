"""How other libraries' Transformers differ from the paper's, measured: see `__main__`."""
