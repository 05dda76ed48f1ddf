"""What commands show: documents out of clusters, and texts out of documents.

Nothing is imported here: the command line asks for the names of formats before anything heavy.
"""
