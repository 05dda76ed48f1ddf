"""CP-SAT's Python interface, imported without pandas, and not before somebody asks it something.

Many searches end without CP-SAT, and loading it takes a tenth of a second.

`cp_model` imports pandas for functions on series, which planner never calls; that alone takes
longer than most of planner's searches. While it is imported, a stand-in answers for pandas, and
afterwards the stand-in passes every question on to pandas itself: whoever uses series in the same
process gets the real ones.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

__all__ = ["cp_model"]

_CP_MODEL = "ortools.sat.python.cp_model"
_PANDAS = "pandas"


class _Pandas(ModuleType):
    """Types to stand in annotations during the import; pandas afterwards."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(_PANDAS) is not self:
            return getattr(import_module(_PANDAS), name)
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def _imported() -> ModuleType:
    if _CP_MODEL not in sys.modules and _PANDAS not in sys.modules:
        sys.modules[_PANDAS] = stand_in = _Pandas(_PANDAS)
        try:
            return import_module(_CP_MODEL)
        except (AttributeError, ImportError, TypeError):
            sys.modules.pop(_CP_MODEL, None)  # a release that needs more of pandas gets it below
        finally:
            if sys.modules.get(_PANDAS) is stand_in:
                del sys.modules[_PANDAS]
    return import_module(_CP_MODEL)


class _WhenAsked(ModuleType):
    """The module, imported with the first question."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        module = _imported()
        vars(self).update({name: value for name, value in vars(module).items() if name[:2] != "__"})
        return getattr(module, name)


if not TYPE_CHECKING:
    cp_model = _WhenAsked("cp_model")
