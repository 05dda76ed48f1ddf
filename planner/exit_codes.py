"""How a run of the command line can end; docs/reference/exit-codes.md is written from this.

Signals count as shells count them: 128 and the signal's number.
"""

from __future__ import annotations

from collections.abc import Mapping

DONE = 0
FAILURE = 1
USAGE = 2
NEGATIVE = 3
UNDECIDED = 4
INTERRUPTED = 130
NO_READER = 141

MEANINGS: Mapping[int, str] = {
    DONE: "Done, and nothing is wrong.",
    FAILURE: "Bad input or a failure; stderr says what and where.",
    USAGE: "The command line can't mean what it says.",
    NEGATIVE: "A negative answer: see each command.",
    UNDECIDED: "Undecided within the limit: the result is complete and checked, but not proven.",
    INTERRUPTED: "Interrupted by Ctrl-C; `solve` and `evict` still write the best plan they have, "
    "and `whatif --each` the failures that were tried.",
    NO_READER: "Nobody reads the result any more, as in `planner ... | head`.",
}
