"""What `planner run` says: one JSON object a line, or plain lines for people."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Literal, TextIO

Level = Literal["info", "warning", "error"]
Format = Literal["json", "text"]


class Log:
    """Lines on a stream, each written at once."""

    def __init__(self, stream: TextIO, how: Format, now: Callable[[], float]) -> None:
        self._stream = stream
        self._how = how
        self._now = now

    def say(
        self, text: str, *, level: Level = "info", number: int | None = None, **fields: Any
    ) -> None:
        """One line; `number` is that of a round, `fields` are for machines."""
        if self._how == "text":
            prefix = "" if number is None else f"round {number}: "
            lines = f"{prefix}{text}".replace("\r", " ")
            self._stream.write(f"{lines}\n")
        else:
            time = datetime.fromtimestamp(self._now(), UTC)
            line: dict[str, Any] = {
                "time": time.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                "level": level,
                "msg": text,
            }
            if number is not None:
                line["round"] = number
            line.update(fields)
            self._stream.write(f"{json.dumps(line, separators=(',', ':'))}\n")
        self._stream.flush()
