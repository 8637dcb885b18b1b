"""What a bend and a width are worth: in a network alone, and in small translators (§3.3)."""
