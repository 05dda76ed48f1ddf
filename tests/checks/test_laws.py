"""What holds for every input: a clean check means pods that run, and rules are about something."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from planner.checks import (
    BY_ID,
    CheckOptions,
    Subject,
    check,
    manifests_of,
    subject_of,
)
from planner.cluster import build_cluster
from planner.scheduler.profile import default_profile
from planner.scheduler.simulate import simulate
from planner.sources.load import load_documents
from planner.sources.options import ReadOptions
from tests.checks.manifests import deployment, findings
from tests.objects import HOSTNAME, ZONE, Json, document, node

NEVER = frozenset(
    (
        *("api-refuses", "label-unknown", "request-too-large", "spread-key-unknown"),
        *("too-many-replicas", "min-domains-above", "affinity-nobody", "over-quota"),
    )
)
"""Rules that say that some pod never runs."""


@st.composite
def manifests(draw: st.DrawFn) -> tuple[Json, tuple[Json, ...]]:
    """A Deployment, and two to five nodes in up to three zones."""
    count = draw(st.integers(2, 5))
    nodes = tuple(
        node(f"n{i}", "abc"[i % 3], status={"allocatable": {"cpu": draw(CPUS)}})
        for i in range(count)
    )
    key = draw(st.sampled_from((ZONE, HOSTNAME, "rack")))
    rule: Json = {
        "maxSkew": draw(st.integers(1, 2)),
        "topologyKey": key,
        "whenUnsatisfiable": draw(st.sampled_from(("DoNotSchedule", "ScheduleAnyway"))),
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    spec: dict[str, Any] = {"topologySpreadConstraints": draw(st.sampled_from(([], [rule])))}
    if draw(st.booleans()):
        term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "web"}}}
        required = "requiredDuringSchedulingIgnoredDuringExecution"
        spec["affinity"] = {"podAntiAffinity": {required: [term]}}
    if draw(st.booleans()):
        spec["nodeSelector"] = {ZONE: draw(st.sampled_from("ad"))}
    return deployment(draw(st.integers(1, 6)), spec), nodes


CPUS = st.sampled_from(("400m", "1", "2"))


@settings(max_examples=40)
@given(manifests())
def test_all_replicas_of_a_clean_manifest_run_and_some_of_another_do_not(
    given_: tuple[Json, tuple[Json, ...]],
) -> None:
    manifest, nodes = given_
    found = findings(manifest, cluster=nodes, only=NEVER, survive="none")
    errors = [each for each in found if each.severity == "error"]
    inventory = load_documents(map(document, (*nodes, manifest)), ReadOptions())
    ended = simulate(build_cluster(inventory), [default_profile()])
    assert bool(errors) == bool(ended.unschedulable)


def left_waiting(subject: Subject) -> int:
    """Pods that kube-scheduler leaves without a node."""
    return len(simulate(subject.cluster, [default_profile()]).unschedulable)


@settings(max_examples=30)
@given(manifests())
def test_a_fix_lets_all_replicas_run_and_a_waiting_pod_is_told(
    given_: tuple[Json, tuple[Json, ...]],
) -> None:
    manifest, nodes = given_
    only = frozenset(("too-many-replicas",))
    inventory = load_documents(map(document, (*nodes, manifest)), ReadOptions())
    given_manifests = manifests_of(load_documents([document(manifest)], ReadOptions()))
    options = CheckOptions(only=only, survive="none")
    subject = subject_of(inventory, given_manifests, default_profile, options)
    found = list(BY_ID["too-many-replicas"].find(subject))
    assert bool(found) == bool(left_waiting(subject))
    for finding, ideas in ((each, each.ideas) for each in found):
        (shown,) = [f for f in check(subject).findings if f.fingerprint == finding.fingerprint]
        helping = {fix.text.partition(" in ")[0] for fix in shown.fixes if fix.helps}
        for idea in ideas:
            if idea.text in helping and not idea.where:
                assert left_waiting(subject.changed(idea.change)) == 0, idea.text
