"""As much of Helm as deploy/chart uses, and not a word more: whatever else is an error.

`helm template` takes its place where helm is installed (`rendered_chart`).
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

Json = dict[str, Any]
_ACTION = re.compile(r"\{\{(-?)\s*(.*?)\s*(-?)\}\}", re.DOTALL)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\d+|[()|]|\.[A-Za-z.]*|[a-zA-Z]+')


def rendered_chart(folder: Path, values: Json, namespace: str) -> list[Json]:
    """The objects of a chart."""
    if shutil.which("helm"):
        sets = [f"--set-json={key}={json.dumps(value)}" for key, value in values.items()]
        command = ["helm", "template", "planner", str(folder), "-n", namespace, *sets]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return _objects(text)
    return subset(folder, values, namespace)


def subset(folder: Path, values: Json, namespace: str) -> list[Json]:
    """The same by the renderer of this module."""
    chart = yaml.safe_load((folder / "Chart.yaml").read_text())
    known = yaml.safe_load((folder / "values.yaml").read_text())
    assert values.keys() <= known.keys(), "a value that the chart doesn't have"
    scope = {
        "Values": {**known, **values},
        "Release": {"Namespace": namespace},
        "Chart": {"AppVersion": chart["appVersion"]},
    }
    files = sorted((folder / "templates").iterdir())
    template = _Template(scope)
    texts = [
        template.render(file.read_text()) for file in files if file.suffix in (".tpl", ".yaml")
    ]
    return _objects("\n---\n".join(texts))


def _objects(text: str) -> list[Json]:
    return [each for each in yaml.safe_load_all(text) if each]


class _Template:
    def __init__(self, scope: Mapping[str, Any]) -> None:
        self._scope = scope
        self._defined: dict[str, list[str | tuple[str]]] = {}

    def render(self, text: str) -> str:
        parts = list(_parts(text))
        found, rest = self._block(parts, 0)
        if rest != len(parts):
            raise ValueError("an end or an else without an if")
        return found

    def _block(self, parts: list[str | tuple[str]], at: int) -> tuple[str, int]:
        """What is rendered until the end or the else of this block, and where that stands."""
        out: list[str] = []
        while at < len(parts):
            part = parts[at]
            if isinstance(part, str):
                out.append(part)
                at += 1
                continue
            word, _, rest = part[0].partition(" ")
            if word in ("end", "else"):
                break
            if word == "if":
                text, at = self._condition(parts, at, rest)
                out.append(text)
            elif word == "define":
                end = _end_of(parts, at + 1)
                self._defined[json.loads(rest)] = parts[at + 1 : end]
                at = end + 1
            else:
                out.append(_text(self._value(part[0])))
                at += 1
        return "".join(out), at

    def _condition(self, parts: list[str | tuple[str]], at: int, rest: str) -> tuple[str, int]:
        chosen = bool(self._value(rest))
        first, at = self._block(parts, at + 1)
        second = ""
        if parts[at] == ("else",):
            second, at = self._block(parts, at + 1)
        if parts[at] != ("end",):
            raise ValueError(f"an if that ends with {parts[at]}")
        return (first if chosen else second), at + 1

    def _value(self, text: str) -> Any:
        tokens = _TOKEN.findall(text)
        if "".join(tokens) != re.sub(r"\s+", "", text) and '"' not in text:
            raise ValueError(f"not understood: {text}")
        value, rest = self._pipeline(tokens)
        if rest:
            raise ValueError(f"not understood: {text}")
        return value

    def _pipeline(self, tokens: list[str]) -> tuple[Any, list[str]]:
        value, tokens = self._command(tokens, ())
        while tokens and tokens[0] == "|":
            value, tokens = self._command(tokens[1:], (value,))
        return value, tokens

    def _command(self, tokens: list[str], piped: tuple[Any, ...]) -> tuple[Any, list[str]]:
        name = tokens[0]
        if not name[0].isalpha():
            if piped:
                raise ValueError(f"{name} is no function")
            return self._term(tokens)
        tokens, arguments = tokens[1:], []
        while tokens and tokens[0] not in ("|", ")"):
            value, tokens = self._term(tokens)
            arguments.append(value)
        return self._call(name, (*arguments, *piped)), tokens

    def _term(self, tokens: list[str]) -> tuple[Any, list[str]]:
        token, rest = tokens[0], tokens[1:]
        if token == "(":
            value, rest = self._pipeline(rest)
            if not rest or rest[0] != ")":
                raise ValueError("a bracket is not closed")
            return value, rest[1:]
        if token[0] == '"':
            return json.loads(token), rest
        if token.isdigit():
            return int(token), rest
        if token == ".":
            return self._scope, rest
        if token[0] == ".":
            found: Any = self._scope
            for name in token[1:].split("."):
                found = found[name]
            return found, rest
        raise ValueError(f"{token} is not understood")

    def _call(self, name: str, given: tuple[Any, ...]) -> Any:  # noqa: PLR0911 - a function each
        match name, given:
            case "eq", (a, b):
                return a == b
            case "and", (a, b):
                return a and b
            case "not", (a,):
                return not a
            case "default", (other, value):
                return value or other
            case "printf", (form, value):
                return form.replace("%s", value)
            case "quote", (value,):
                return json.dumps(value)
            case "indent", (number, text):
                return "\n".join(" " * number + line for line in text.split("\n"))
            case "toYaml", (value,):
                return yaml.safe_dump(value, default_flow_style=False).rstrip("\n")
            case "include", (template, scope) if scope is self._scope:
                text, _ = self._block(self._defined[template], 0)
                return text
        raise ValueError(f"{name} with {len(given)} arguments is not understood")


def _parts(text: str) -> Iterator[str | tuple[str]]:
    """Plain text, and actions as tuples; dashes take the blanks beside them away."""
    at, trim = 0, False
    for found in _ACTION.finditer(text):
        before = text[at : found.start()]
        before = before.lstrip() if trim else before
        yield before.rstrip() if found[1] else before
        yield (found[2],)
        at, trim = found.end(), bool(found[3])
    rest = text[at:]
    if "{{" in rest or "}}" in rest:
        raise ValueError("an action is not closed")
    yield rest.lstrip() if trim else rest


def _end_of(parts: list[str | tuple[str]], at: int) -> int:
    depth = 0
    for index in range(at, len(parts)):
        part = parts[index]
        word = part[0].split(" ")[0] if isinstance(part, tuple) else ""
        if word == "end" and not depth:
            return index
        depth += {"if": 1, "define": 1, "end": -1}.get(word, 0)
    raise ValueError("a definition has no end")


def _text(value: Any) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)
