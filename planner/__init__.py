"""Explains, simulates and plans where Kubernetes pods go.

Nothing is imported here: a command pays only for the packages that it uses.
"""

__version__ = "0.1.0"
