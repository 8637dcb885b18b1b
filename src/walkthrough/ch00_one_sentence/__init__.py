"""Chapter 00: one sentence goes through the trained translator, one picture a step."""
