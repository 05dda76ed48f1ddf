"""The formats of `-o`."""

from __future__ import annotations

from enum import StrEnum


class Output(StrEnum):
    """How a result is written. `table` is for people, `json` and `yaml` hold everything."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"
    MARKDOWN = "markdown"


class PlanOutput(StrEnum):
    """The same for results that can be carried out: `script` is a shell script that does so."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"
    MARKDOWN = "markdown"
    SCRIPT = "script"
