"""Writes docs/reference/ from the command line itself and from the JSON Schemas.

`make docs` runs it; a test fails while a page is not what this would write.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from planner.checks import RULES as CHECK_RULES
from planner.checks.rule import Rule
from planner.cli.app import COMMANDS, application
from planner.exit_codes import MEANINGS
from planner.pools.read import SAMPLE_FILE
from planner.report.ci.rules import RULES
from planner.report.markdown import escape
from planner_models.documents import DOCUMENTS, SETTINGS, json_schema
from planner_models.instance_types import InstanceTypes

FOLDER = Path(__file__).parent / "reference"
GENERATED = "<!-- Written by `make docs`; changes here are lost. -->"
Json = Mapping[str, Any]
CHECK_INTRODUCTION = (
    "An *error* is proven: something never runs, never proceeds, or is refused. A *warning* "
    "happens in an event that was simulated: an outage, a rollout, a drain. A *note* has no "
    "effect, or is unprotected. Rules that need nodes are asked with `--against` or where the "
    "input has nodes. The annotation `planner/ignore: RULE[,RULE]` on an object or its template "
    "silences a rule there."
)


RESERVE = (
    "## What the kubelet keeps",
    "`capacity` is the machine, `allocatable` what pods can have of it. A type without allocatable "
    "gets that of the smallest node of its instance type in the cluster; without such a node its "
    "capacity is taken, and a notice says so: that is 5 to 25 % too much.",
    "In planner's own table the rules of Amazon's EKS images are taken off (nodeadm in "
    "awslabs/amazon-eks-ami): of the CPU 6 % of the first core, 1 % of the second, 0.5 % of the "
    "next two and 0.25 % of all others; of the memory 255Mi and 11Mi for each pod that the machine "
    "may have, and 100Mi for evictions. Before that 7.5 % of the nominal memory are taken off, "
    "which the machine never shows (Karpenter's default for AWS). Its prices are on-demand prices "
    "of one region at one time. They are samples, and every answer with them says so.",
)


def pages() -> dict[str, str]:
    """Every file below docs/reference/, by its name."""
    found = {"commands.md": _commands(), "documents.md": _documents()}
    found["exit-codes.md"] = _exit_codes()
    found["findings.md"] = _findings()
    found["check-rules.md"] = _check_rules()
    found["instance-types.md"] = _instance_types()
    for kind in (*DOCUMENTS, *SETTINGS):
        found[f"{kind}.schema.json"] = json.dumps(json_schema(kind), indent=2) + "\n"
    return found


def _page(title: str, *parts: str) -> str:
    return "\n\n".join((GENERATED, f"# {title}", *parts)) + "\n"


def _table(header: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    lines = (header, ("---",) * len(header), *rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    """Our own words, which may have code in them."""
    return text.replace("|", "\\|")


# Commands


def _commands() -> str:
    group: Any = typer.main.get_command(application(COMMANDS))
    listed = "\n".join(f"- [`planner {name}`](#planner-{name})" for name in group.commands)
    return _page("Commands", listed, *(_command(name, c) for name, c in group.commands.items()))


def _command(name: str, command: Any) -> str:
    group = typer.main.get_command(application(COMMANDS))
    outer = group.make_context("planner", [], resilient_parsing=True)
    context = command.make_context(name, [], parent=outer, resilient_parsing=True)
    text, _, examples = (command.help or "").partition("\b")
    usage = " ".join(command.collect_usage_pieces(context))
    parts = [f"## planner {name}", f"`planner {name} {usage}`", _paragraphs(text)]
    if examples.strip():
        lines = "\n".join(line.strip() for line in examples.strip().splitlines())
        parts.append(f"```sh\n{lines}\n```")
    records = (parameter.get_help_record(context) for parameter in command.get_params(context))
    rows = ((escape.code(record[0]), _cell(record[1])) for record in records if record)
    parts.append(_table(("option", "meaning"), rows))
    return "\n\n".join(parts)


def _paragraphs(text: str) -> str:
    found = re.split(r"\n\s*\n", text.strip())
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in found)


def _exit_codes() -> str:
    rows = ((str(code), _cell(text)) for code, text in MEANINGS.items())
    parts = [_table(("code", "meaning"), rows), "What 3 and 4 mean, command by command:"]
    group: Any = typer.main.get_command(application(COMMANDS))
    meanings: list[str] = []
    for name, command in group.commands.items():
        text = " ".join((command.help or "").partition("\b")[0].split())
        said = re.search(r"Exit code .*?\.(?= |$)", text)
        own = said[0] if said else "Always 0, unless something went wrong."
        meanings.append(f"- `planner {name}`: {own}")
    return _page("Exit codes", *parts, "\n".join(meanings))


# Documents


def _documents() -> str:
    intro = (
        "What `-o json` and `-o yaml` write. Every document has `apiVersion: planner/v1` and its "
        "`kind`; `planner schema KIND` prints the JSON Schema, which also stands beside this page."
    )
    return _page("Documents", intro, *map(_document, (*DOCUMENTS, *SETTINGS)))


def _instance_types() -> str:
    intro = (
        "A file for `planner scale-up --pools`, YAML or JSON: the machines among which NodePools "
        "of Karpenter choose by their requirements. `sample-instance-types` in place of a file is "
        "planner's own table: c7i, m7i and r7i of four sizes."
    )
    sample = "\n".join(SAMPLE_FILE.read_text(encoding="utf-8").splitlines()[4:13])
    schema = InstanceTypes.model_json_schema(by_alias=True)
    parts = [f"```yaml\n{sample}\n```", _input_model(schema)]
    for name, model in sorted(schema["$defs"].items(), reverse=True):
        parts.extend((f"## {name}", _input_model(model)))
    return _page("Instance types", intro, *parts, *RESERVE)


def _input_model(model: Json) -> str:
    """What a user writes; quantities are those of Kubernetes."""
    required = model.get("required", ())
    rows = (
        (escape.code(name), _cell(_quantities(field)), "yes" if name in required else "no")
        for name, field in model["properties"].items()
    )
    return f"{_paragraphs(model['description'])}\n\n{_table(('field', 'type', 'required'), rows)}"


def _quantities(field: Json) -> str:
    """Amounts are read as whole numbers, and written as in a Node."""
    return _type(field).replace("map of integer", "map of quantity")


def _document(kind: str) -> str:
    schema = json_schema(kind)
    parts = [f"## {kind}", f"[{kind}.schema.json]({kind}.schema.json)", _model(schema)]
    for name, model in sorted(schema.get("$defs", {}).items()):
        parts.extend((f"### {kind}: {name}", _model(model)))
    return "\n\n".join(parts)


def _model(model: Json) -> str:
    parts = [_paragraphs(model.get("description", ""))]
    rows = (
        (escape.code(name), _cell(_type(field)), "if known" if _absent(field) else "always")
        for name, field in model.get("properties", {}).items()
    )
    if model.get("properties"):
        parts.append(_table(("field", "type", "present"), rows))
    return "\n\n".join(part for part in parts if part)


def _absent(field: Json) -> bool:
    """What has no value is left out of the document."""
    return any(each.get("type") == "null" for each in field.get("anyOf", ()))


def _type(field: Json) -> str:
    """`list of Step`, `integer or null`, `"max" or "min"`."""
    if "$ref" in field:
        return str(field["$ref"]).rpartition("/")[2]
    if "anyOf" in field:
        return " or ".join(_type(each) for each in field["anyOf"] if each.get("type") != "null")
    if "const" in field:
        return json.dumps(field["const"])
    if "enum" in field:
        return " or ".join(map(json.dumps, field["enum"]))
    if field.get("type") == "array":
        return f"list of {_type(field['items'])}" if field.get("items") else "list"
    if field.get("type") == "object":
        values = field.get("additionalProperties")
        return f"map of {_type(values)}" if isinstance(values, dict) else "map"
    return str(field.get("type", "any"))


# Findings


def _findings() -> str:
    intro = (
        "What `-o github`, `-o junit` and `-o sarif` report. A finding has one of these ids; in "
        "SARIF they are the rules."
    )
    rows = (
        (escape.code(rule), _cell(text.short), _cell(text.help)) for rule, text in RULES.items()
    )
    return _page("Findings", intro, _table(("id", "meaning", "what to do"), rows))


def _check_rules() -> str:
    """Each rule in its own words: the docstring of its module says why."""
    listed = _table(
        ("rule", "severity", "needs nodes", "what it finds"),
        (
            (f"[`{r.id}`](#{r.id})", r.severity, "yes" if r.needs_nodes else "no", r.summary)
            for r in CHECK_RULES
        ),
    )
    return _page("Rules of `planner check`", CHECK_INTRODUCTION, listed, *map(_rule, CHECK_RULES))


def _rule(rule: Rule) -> str:
    module = import_module(f"planner.checks.rules.{rule.id.replace('-', '_')}")
    _, _, told = (module.__doc__ or "").partition(": ")
    told = told.strip()
    return f"## {rule.id}\n\n{told[:1].upper()}{told[1:]}"


def write() -> None:
    """Write every page, and remove what is no page any more."""
    FOLDER.mkdir(exist_ok=True)
    found = pages()
    for file in FOLDER.iterdir():
        if file.name not in found:
            file.unlink()
    for name, text in found.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
