"""A cluster as a file to keep or to share: pruned to what planner reads, on wish without names."""
