"""From conflicts to sentences."""
