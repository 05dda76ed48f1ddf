"""Conflicts of several pods: which demands and rules don't go together, by CP-SAT's assumptions."""
