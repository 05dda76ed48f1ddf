"""From bytes to JSON values: files, directories, stdin, gzip, JSON and YAML as kubectl reads them.

Everything after this package sees one form only, a JSON value and the
name of the file it came from.
"""
