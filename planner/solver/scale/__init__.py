"""Large clusters: bounds first, a greedy realisation of them, and models only where both differ."""
