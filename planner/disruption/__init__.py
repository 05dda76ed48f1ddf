"""Voluntary disruptions: PodDisruptionBudgets and what the Eviction API makes of them."""
