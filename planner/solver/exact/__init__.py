"""The lexicographic search of the whole model."""
