"""Which rules leave no node together, and which of them are enough to do so."""
