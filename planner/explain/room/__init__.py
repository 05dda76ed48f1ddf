"""Whether evictions make room: searches for it, and proofs that none does."""
