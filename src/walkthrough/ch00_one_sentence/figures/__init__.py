"""The pictures of chapter 00, one a step."""
