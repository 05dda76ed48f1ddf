"""The façade: everything that the command line and Python programs need, under `planner`.

    planner.load(...) -> Cluster -> .solve(...), .explain(...), ... -> a document that shows itself

Nothing is imported here, and `planner` imports these modules when they are first asked for.
"""
