"""What a `NodePlan` says about moves of running pods: whom to evict, and what that saves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.report.tables.evict_table import waves_blocks
from planner.report.tables.scale_up_words import cost_of, in_short, nodes_text
from planner.report.text.blocks import GAP, Block
from planner.words import count_of
from planner_models.evictions import PlannedEviction
from planner_models.node_plan import MovesInstead, NodeMoves, NodePlan


def evicted(document: NodePlan) -> Sequence[PlannedEviction]:
    """Pods to evict, wave by wave."""
    return () if document.moves is None else document.moves.evictions


def act(document: NodePlan) -> str:
    """`Add 2 nodes`, `Add 1 node and evict 2 pods`, `Evict 6 pods and add no node`."""
    nodes = count_of(sum(each.nodes for each in document.adds), "node")
    pods = count_of(len(evicted(document)), "pod")
    if not evicted(document):
        return f"Add {nodes}"
    return f"Add {nodes} and evict {pods}" if document.adds else f"Evict {pods} and add no node"


def eviction_blocks(document: NodePlan, *, wide: bool) -> Iterator[Block]:
    """Whom to evict once the nodes are there, wave by wave."""
    if document.moves is not None and document.moves.evictions:
        yield GAP
        yield from waves_blocks(document.moves.evictions, document.moves.waves, wide=wide)
        yield GAP


def moves_remarks(document: NodePlan) -> Iterator[str]:
    """What moves save or would save, or that none do."""
    if document.moves is not None and document.moves.evictions:
        yield from _saved(document, document.moves)
    elif document.moves is not None and document.adds:
        most = count_of(document.moves.limit, "move")
        if document.status == "optimal":
            yield f"Proven: no {most} of running pods save anything."
        else:
            yield f"No {most} of running pods were found that save anything."
    elif document.moves_instead is not None:
        yield _instead(document, document.moves_instead)


def _saved(document: NodePlan, moves: NodeMoves) -> Iterator[str]:
    when = "Evict once the new nodes are there. " if document.adds else ""
    runnable = document.pending - len(document.never)
    who = "It then runs" if runnable == 1 else f"All {runnable} then run"
    yield (
        f"{when}{who} in {moves.checked_seeds} of {moves.checked_seeds} tie seeds, "
        "with the evicted pod gone and with it still terminating when its replacement is placed."
    )
    without = moves.without
    if moves.saved:
        saved = cost_of(document, moves.saved)
        text = f"Saves {saved}: without moves it takes {in_short(without)}."
    elif without.waiting:
        text = f"Without moves {count_of(without.waiting, 'pod waits', 'pods wait')}."
    else:
        text = f"Without moves it takes {in_short(without)}."
    fewest = " No fewer evictions are enough for this cost." if moves.fewest else ""
    yield text + fewest


def _instead(document: NodePlan, better: MovesInstead) -> str:
    """`6 moves of running pods would be enough and save 0.8064 per hour: --moves 6`."""
    moves = f"{count_of(better.moves, 'move')} of running pods"
    enough = f"{nodes_text(better.adds)} with {moves}" if better.adds else moves
    saved = cost_of(document, better.saved) if better.saved else "a node"
    return f"{enough} would be enough, too, and save {saved}: --moves {better.moves}"
