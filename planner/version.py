"""planner's version; a module of its own, so that reports can name it without the façade."""

__version__ = "0.1.0"
