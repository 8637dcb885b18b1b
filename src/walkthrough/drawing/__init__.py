"""What figures are made of. Importing this package switches on the book's Altair theme."""

from walkthrough.drawing import style as style
