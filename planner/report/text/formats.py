"""The formats of `-o`."""

from __future__ import annotations

from enum import StrEnum


class Output(StrEnum):
    """How a result is written.

    `table` is for people, `json` and `yaml` hold everything, `markdown` is for pull requests and
    chat; `github`, `junit` and `sarif` are for continuous integration.
    """

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"
    MARKDOWN = "markdown"
    GITHUB = "github"
    JUNIT = "junit"
    SARIF = "sarif"


class PlanOutput(StrEnum):
    """The same for results that can be carried out: `script` is a shell script that does so."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"
    MARKDOWN = "markdown"
    GITHUB = "github"
    JUNIT = "junit"
    SARIF = "sarif"
    SCRIPT = "script"
