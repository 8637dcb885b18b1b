"""Chapter 22, since 2023: what one more word costs, in memory, operations and steps."""
