"""Settings of other programs: given as an object or a file, or found in the input."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from planner.sources.errors import SourceError

if TYPE_CHECKING:
    from planner.sources.inventory import Inventory

S = TypeVar("S")


@dataclass(frozen=True)
class SettingKind:
    """A kind of settings, with the words for messages; `argument` is where it is given."""

    name: str
    api_version: str
    plural: str
    argument: str

    def find(
        self,
        given: str | os.PathLike[str] | S | None,
        inventory: Inventory,
        of: Callable[[Inventory], Sequence[S]],
    ) -> S | None:
        """The one that was given, or else the one in the input."""
        from planner.sources.load import load_paths

        if given is None:
            found = of(inventory)
        elif isinstance(given, str | os.PathLike):
            found = of(load_paths([os.fspath(given)]))
            if not found:
                raise SourceError(
                    f"{os.fspath(given)} holds no {self.name}",
                    help=f"apiVersion: {self.api_version}, kind: {self.name}",
                )
        else:
            return given
        if len(found) > 1:
            raise SourceError(
                f"the input holds {len(found)} {self.plural}",
                help=f"`{self.argument}=FILE` names the one to use",
            )
        return found[0] if found else None
