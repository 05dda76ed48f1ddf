"""Documents as tables for a terminal."""
