"""What every page calls: `show`, links, recorded results, the drawn map of the model."""
