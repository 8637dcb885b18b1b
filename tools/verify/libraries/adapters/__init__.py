"""One module a library: `measure()` returns its facts; `carry` is what the page shows."""
