"""A running cluster as a source: paged lists of the API server, read and never written.

Outside a cluster the way goes through `kubectl proxy`, so that every login works that kubectl
knows; inside, it is the pod's service account.
"""
