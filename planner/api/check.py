"""`planner.check`: what is wrong with manifests, tried on the cluster that they would come to."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Sequence
from functools import cache as made_once
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from pydantic import PrivateAttr

from planner.api.answers import Answer
from planner.api.arguments import (
    input_arguments,
    meant,
    one_of,
    require_at_least,
    require_time,
    words,
)
from planner.api.live import Live, read_live
from planner.errors import UsageError
from planner.report.emit import Origin
from planner.report.text.commands import Given
from planner_models import check as models
from planner_models.base import Document

if TYPE_CHECKING:
    from planner.api.load import Source
    from planner.api.profiles import Configuration
    from planner.checks.subject import Survive
    from planner.report.emit import Texts
    from planner.report.html.view import Page
    from planner.sources.inventory import Inventory
    from planner.sources.options import ReadOptions
    from planner.sources.read import RawDocument, Refused

FAIL_ON = ("error", "warning", "note", "never")
SURVIVE = ("zone", "node", "none")


class Check(models.Check, Answer):
    """What was found; `to_dataframe` has a row for each finding."""

    _columns: ClassVar[tuple[str, ...]] = (
        *("severity", "rule", "title", "objects", "field", "file", "line", "fingerprint"),
    )

    _warnings: tuple[str, ...] = PrivateAttr(default=())

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the reading of a running cluster less than complete."""
        return self._warnings

    def fails(self, level: str = "error") -> bool:
        """Whether a finding is at least as bad as this."""
        summary = self.summary
        counts = {"error": summary.errors, "warning": summary.warnings, "note": summary.notes}
        worst = FAIL_ON.index(one_of("fail_on", level, FAIL_ON))
        return level != "never" and any(counts[each] for each in FAIL_ON[: worst + 1])

    def undecided(self, level: str = "error") -> bool:
        """Whether a rule that may be as bad as this did not find something out."""
        from planner.checks import BY_ID

        worst = FAIL_ON.index(one_of("fail_on", level, FAIL_ON))
        return level != "never" and any(
            each.undecided and FAIL_ON.index(BY_ID[each.rule].severity) <= worst
            for each in self.skipped
        )

    def _texts(self) -> Texts[Any]:
        from planner.report.tables import check_table

        return check_table

    def _page(self) -> Page:
        from planner.report.html.check_page import check_page

        return check_page(self)

    def _rows(self) -> Sequence[Document]:
        return self.findings

    def _short(self) -> str:
        summary = self.summary
        return f"{summary.errors} errors, {summary.warnings} warnings, {summary.notes} notes"


def check(  # noqa: PLR0913 - options are keywords
    source: Source | Iterable[Source] = (),
    *,
    against: Source | Iterable[Source] = (),
    example: str | None = None,
    rules: Iterable[str] = (),
    skip: Iterable[str] = (),
    survive: str = "zone",
    seeds: int = 20,
    time_limit: float = 60.0,
    baseline: str | os.PathLike[str] | None = None,
    scheduler: Configuration = None,
    ignored_plugins: Sequence[str] = (),
    max_input: int | str | None = None,
    cache: bool = False,
    live: bool | Live = False,
) -> Check:
    """What is wrong with the manifests of `source`.

    `against` is the cluster that they would be applied to, `live` a running one, and `example` one
    that ships with planner; without `source`, everything in the cluster is checked against itself.
    `rules` and `skip` choose rules by their ids; `baseline` is a `Check` as JSON whose findings are
    known. `cache` keeps what was read of the cluster's files, where there are no manifests.
    """
    from planner.api.load import documents_of, paths_of, read_options
    from planner.api.profiles import profiles_of
    from planner.checks import CheckOptions, manifests_of, subject_of
    from planner.checks import check as run
    from planner.documents.check import check_document
    from planner.report.text.ages import ages
    from planner.sources.known_fields import unknown_fields
    from planner.sources.load import load_documents
    from planner.sources.locations import Locations
    from planner.sources.read import RawDocument

    require_at_least("seeds", seeds, 1)
    require_time(time_limit)
    options = CheckOptions(
        only=_known(rules, "rules"),
        skip=_known(skip, "skip"),
        survive=cast("Survive", one_of("survive", survive, SURVIVE)),
        seeds=seeds,
        time_limit=time_limit,
    )
    reading = read_options(max_input, skip_invalid=True)
    cluster, own = paths_of(against, example), tuple(documents_of(source, reading))
    if not cluster and not own and not live:
        raise UsageError("there is nothing to check", help="give manifests, or a cluster")
    chosen = Live() if live is True else live or None
    if chosen is not None:
        if cache:
            raise UsageError("`cache` is for files, and this is a running cluster")
        if cluster:
            raise UsageError("`against` and a running cluster are two clusters; one is enough")
        read, _ = read_live(chosen, lambda: own, reading, None, keep_objects=False)
        inventory, told, of = read.inventory, read.warnings, read.source
        own = read.given
    else:
        inventory, remarks = _cluster_of(cluster, own, reading, cache=cache)
        of, told = None, (*ages(inventory.origins, time.time()), *remarks)
    given = load_documents(own, reading) if own else inventory
    raw = (each for each in own if isinstance(each, RawDocument))
    unknown = (field for each in raw for field in unknown_fields(each))
    profile = made_once(lambda: profiles_of(inventory, scheduler, ignored_plugins)[0])
    if scheduler is not None or ignored_plugins or inventory.scheduler_configs:
        profile()  # what is wrong with it is said, whether a rule asks for it or not
    subject = subject_of(inventory, manifests_of(given, unknown), profile, options)
    paths = tuple(paths_of(source, None) if own else paths_of(against, None))
    found = check_document(subject, run(subject, _accepted(baseline)), Locations(paths))
    shown = Given(input_arguments(paths, example, chosen))
    origin = Origin("planner check", paths, subject.cluster, given=shown, source=of)
    answer = Check.of(found, origin)
    answer._warnings = told
    return answer


def _cluster_of(
    paths: Sequence[str], own: Sequence[RawDocument | Refused], options: ReadOptions, *, cache: bool
) -> tuple[Inventory, tuple[str, ...]]:
    """The cluster with the manifests on top of it, and what there is to say about how."""
    from planner.sources.load import load_paths

    if cache and not own:
        from planner.sources.kept.kept_inventory import load_kept

        return load_kept(paths, options)
    remark = "`cache` was not used: with manifests the cluster is another one each time"
    return load_paths(paths, options=options, on_top=own), (remark,) if cache else ()


def _known(rules: Iterable[str], argument: str) -> frozenset[str]:
    from planner.checks import BY_ID

    named = words(argument, rules)
    for rule in named:
        if rule not in BY_ID:
            raise UsageError(
                f"`{argument}`: there is no rule {rule}",
                help=meant(rule, BY_ID) or f"there are: {', '.join(BY_ID)}",
            )
    return frozenset(named)


def _accepted(baseline: str | os.PathLike[str] | None) -> frozenset[str]:
    """The fingerprints of an earlier check."""
    if baseline is None:
        return frozenset()
    try:
        known = models.Check.model_validate(json.loads(Path(baseline).read_bytes()))
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{os.fspath(baseline)} is not an earlier check",
            help="planner check ... -o json > baseline.json",
        ) from error
    return frozenset(each.fingerprint for each in known.findings)
