"""Reports as one HTML file: a typed view of cluster and document, and templates that draw it.

    document + cluster -> Story (who is where, stage by stage) -> Page (what is shown) -> HTML

Everything is drawn here and not in the browser, so that a report can be read and printed without
JavaScript; the script of the page only steps, filters and copies.
"""
