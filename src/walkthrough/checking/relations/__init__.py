"""How a wrong result relates to the right one, found without knowing the mistake."""
