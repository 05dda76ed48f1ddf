"""Which nodes to add where a few running pods may move as well."""

from planner.pools.moves.answer import WithMoves
from planner.pools.moves.find import instead, scale_up_with_moves
from planner.pools.moves.waves import Rearranged

__all__ = ["Rearranged", "WithMoves", "instead", "scale_up_with_moves"]
