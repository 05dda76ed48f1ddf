"""A fleet as a Python program sees it, and what `Fleet.decide` answers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import PrivateAttr

from planner.api.answers import Answer
from planner.api.arguments import input_arguments, require_time
from planner.api.placements import find_placements, require_fleet
from planner.errors import UsageError
from planner.report.emit import Origin
from planner.report.text.ages import ages
from planner.report.text.commands import Given
from planner.words import count_of
from planner_models import fleet_decision
from planner_models.base import Document
from planner_models.meta import parse_time

if TYPE_CHECKING:
    from planner.report.emit import Texts
    from planner.report.html.view import Page
    from planner.sources.inventory import Inventory
    from planner_models.member_cluster import MemberCluster
    from planner_models.notice import Notice


@dataclass(frozen=True, eq=False, repr=False)
class Fleet:
    """Member clusters, placements and bindings; `planner.load_fleet` makes it."""

    inventory: Inventory
    paths: tuple[str, ...] = ()
    example: str | None = None
    warnings: tuple[str, ...] = ()
    """What there is to say about how it was read."""

    def __repr__(self) -> str:
        members = count_of(len(self.members), "member cluster")
        placed = len(self.inventory.cluster_placements) + len(self.inventory.resource_placements)
        return f"<Fleet: {members}, {count_of(placed, 'placement')}>"

    @property
    def members(self) -> tuple[MemberCluster, ...]:
        """The member clusters, as Kubernetes objects."""
        return self.inventory.member_clusters

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was odd in the input."""
        return tuple(self.inventory.notices)

    def ages(self) -> tuple[str, ...]:
        """How old the dumps are that the fleet was read from, a sentence for each."""
        return ages(self.inventory.origins, time.time())

    def decide(
        self,
        *placements: str,
        namespace: str | None = None,
        now: str | None = None,
        time_limit: float = 60.0,
    ) -> FleetDecisionList:
        """Which member clusters each placement gets, by Fleet and at best.

        Placements are named as for kubectl: `web` or `crp/web`, or `rp/web` in a namespace; without
        any, all are decided. `now` is when heartbeats are judged; else when the newest came.
        """
        from planner.documents import fleet as fleets

        require_time(time_limit)
        at = _seconds(now)
        require_fleet(self.inventory)
        chosen = find_placements(self.inventory, placements, namespace)
        found = fleets.decide_placements(self.inventory, chosen, at, time_limit)
        every = fleet_decision.FleetDecisionList.model_construct(items=found)
        return FleetDecisionList.of_fleet(every, self)


class _FleetAnswer(Answer):
    """An answer about a fleet."""

    _columns: ClassVar[tuple[str, ...]] = (
        *("placement", "placement_kind", "verdict", "wanted", "picked", "differs", "headline"),
    )
    _fleet: Fleet = PrivateAttr()

    @classmethod
    def of_fleet(cls, document: Document, fleet: Fleet) -> Self:
        """The document as an answer about the fleet."""
        labels = {each.name: each.labels for each in fleet.members}
        given = Given(input_arguments(fleet.paths, fleet.example))
        origin = Origin("planner fleet", fleet.paths, members=labels, given=given)
        answer = cls.of(document, origin)
        answer._fleet = fleet
        return answer

    def _texts(self) -> Texts[Any]:
        from planner.report.tables import fleet_table

        return fleet_table

    def _page(self) -> Page:
        from planner.report.html.fleet_page import fleet_page

        return fleet_page(self._fleet.members, self._rows())

    def _rows(self) -> Sequence[fleet_decision.FleetDecision]:
        raise NotImplementedError


class FleetDecision(fleet_decision.FleetDecision, _FleetAnswer):
    """The clusters of one placement."""

    def _rows(self) -> Sequence[fleet_decision.FleetDecision]:
        return (self,)

    def _short(self) -> str:
        return self.headline


class FleetDecisionList(fleet_decision.FleetDecisionList, _FleetAnswer):
    """The clusters of several placements; `to_dataframe` has a row for each."""

    @property
    def decisions(self) -> tuple[FleetDecision, ...]:
        """Each decision as an answer of its own."""
        return tuple(FleetDecision.of_fleet(each, self._fleet) for each in self.items)

    def _rows(self) -> Sequence[fleet_decision.FleetDecision]:
        return self.items

    def _short(self) -> str:
        return count_of(len(self.items), "placement")


def _seconds(text: str | None) -> int | None:
    try:
        return None if text is None else parse_time(text)
    except ValueError as error:
        raise UsageError(f"`now`: {error}") from error
