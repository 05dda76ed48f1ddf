"""The question: what may be decided, what is given, and what an answer looks like."""
