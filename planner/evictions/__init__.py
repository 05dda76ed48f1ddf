"""Evictions: what the descheduler would do, and what is better."""
