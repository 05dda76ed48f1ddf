"""Random but repeatable cluster dumps, as `kubectl get ... -A -o json` prints them.

`cluster` decides what runs where, `objects`, `pods` and `workloads` know the API server's shapes,
`dump` writes the text. The same parameters and seed give the same bytes.
"""
