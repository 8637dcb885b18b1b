"""What chapter 22 measures: recall from a state of fixed size, and the load of experts."""
