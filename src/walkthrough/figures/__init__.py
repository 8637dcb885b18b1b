"""The book's figures. Importing this package switches on the book's Altair theme."""

from walkthrough.figures import style as style
