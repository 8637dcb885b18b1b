"""What the page "Can you build it?" alone uses."""
