"""Inventories that were read before, kept in the user's cache directory (`--cache`).

A file there is found by the content of the input, checked by its own hash, and holds values alone,
nothing that could run. Whatever is odd about it means that the input is read as without it.
"""
