"""What chapter 06, embeddings and softmax (§3.4), alone uses."""
