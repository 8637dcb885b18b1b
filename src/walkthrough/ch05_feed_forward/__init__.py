"""What chapter 05, feed-forward networks (§3.3), alone uses."""
