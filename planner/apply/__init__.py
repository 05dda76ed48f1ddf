"""Plans carried out in a running cluster: the only package beside `run` that writes."""
