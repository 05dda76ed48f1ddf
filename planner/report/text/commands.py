"""Commands of planner in texts, written so that they can be pasted.

A text names a command with `command`, whose words stay on one line. When the text is shown, the
command gets the input that the answer came from, and the pods that it was about unless it names its
own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from planner.report.text.blocks import NO_BREAK, Block, Paragraph

_COMMAND = re.compile(
    rf"planner{NO_BREAK}(?P<name>[a-z-]+)(?P<rest>(?:{NO_BREAK}[^ {NO_BREAK}]+)*)"
)
DEFAULT = "default"


@dataclass(frozen=True)
class Given:
    """What a command was given: `input` as `-f FILE` or `--example NAME`, `part` as its targets.

    `program` is how it was called. Targets without a namespace are those of `namespace`.
    """

    input: tuple[str, ...] = ()
    part: tuple[str, ...] = ()
    program: str = "planner"
    namespace: str = DEFAULT


NOTHING = Given()


def command(name: str, *arguments: str) -> str:
    """`planner explain deploy/web`, in one piece."""
    return " ".join(("planner", name, *arguments)).replace(" ", NO_BREAK)


def about(name: str, namespace: str, target: str) -> str:
    """The command for one pod or workload, with its namespace where that has to be said."""
    return command(name, *(() if namespace == DEFAULT else ("-n", namespace)), target)


def pasteable(blocks: Iterable[Block], given: Given) -> Sequence[Block]:
    """The same texts, with commands that read what this one read."""
    return [
        pasteable_paragraph(block, given) if isinstance(block, Paragraph) else block
        for block in blocks
    ]


def pasteable_paragraph(paragraph: Paragraph, given: Given) -> Paragraph:
    """The same for one of them."""
    text = _COMMAND.sub(lambda found: _with_input(found, given), paragraph.text)
    return replace(paragraph, text=text)


def _with_input(found: re.Match[str], given: Given) -> str:
    own = found["rest"].split(NO_BREAK)[1:]
    part = given.part
    if any("/" in word for word in own):
        elsewhere = given.namespace != DEFAULT and not {"-n", "-A"} & set(own)
        part = ("-n", DEFAULT) if elsewhere else ()
    words = command(found["name"], *given.input, *part, *own)
    return words.replace("planner", given.program.replace(" ", NO_BREAK), 1)
