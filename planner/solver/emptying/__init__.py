"""Which nodes can be empty together: the best set of a small cluster, and a bound for any."""
