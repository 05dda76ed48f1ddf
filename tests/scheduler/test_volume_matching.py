"""FindPodVolumes over all nodes at once, against one node after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.plugins.volume_binding import VolumeBinding
from planner.scheduler.volumes.matching import BIND_CONFLICT, NODE_CONFLICT
from planner_models.volume import SELECTED_NODE, PersistentVolume, PersistentVolumeClaim
from tests.scheduler.volume_examples import (
    ZONE,
    claim,
    index,
    node,
    pod,
    pre_filter,
    state_of,
    storage_class,
    volume,
)

HOSTS = ["h0", "h1", "h2"]
ZONES = {"h0": "a", "h1": "a", "h2": "b"}
NODES = [node(name, zone=ZONES[name]) for name in HOSTS]
CLASSES = [
    storage_class("static", provisioner="kubernetes.io/no-provisioner"),
    storage_class(
        "zonal",
        allowedTopologies=[{"matchLabelExpressions": [{"key": ZONE, "values": ["a"]}]}],
    ),
]

sizes = st.integers(1, 4)
class_names = st.sampled_from(["static", "zonal"])


@st.composite
def free_volumes(draw: st.DrawFn) -> list[PersistentVolume]:
    """Volumes of distinct sizes: which of two equal ones is taken is nobody's business."""
    amounts = draw(st.lists(st.integers(1, 12), unique=True, max_size=8))
    named = st.sampled_from([None, None, None, "c0", "c1"])
    found: list[PersistentVolume] = []
    for i, amount in enumerate(amounts):
        owner = draw(named)
        reference = {"claimRef": {"namespace": "default", "name": owner}} if owner else {}
        if owner and any(v.spec.claim_ref and v.spec.claim_ref.name == owner for v in found):
            reference = {}
        zones = draw(st.sampled_from([[], ["a"], ["b"]]))
        hosts = draw(st.sampled_from([[], [], ["h0"], ["h1", "h2"]]))
        found.append(
            volume(
                f"v{i}",
                zones=zones,
                hosts=hosts,
                size=f"{amount}Gi",
                storage_class=draw(class_names),
                **reference,
            )
        )
    return found


@st.composite
def claims(draw: st.DrawFn) -> list[PersistentVolumeClaim]:
    selected = st.sampled_from([None, None, None, None, *HOSTS])
    found = []
    for i in range(4):
        chosen = draw(selected)
        annotations = {SELECTED_NODE: chosen} if chosen else {}
        name = draw(class_names)
        size = f"{draw(sizes)}Gi"
        found.append(claim(f"c{i}", storage_class=name, size=size, annotations=annotations))
    return found


def size_of(found: PersistentVolume | PersistentVolumeClaim) -> int:
    if isinstance(found, PersistentVolume):
        return found.spec.capacity["storage"]
    return found.spec.resources.requests["storage"]


def reaches(found: PersistentVolume, host: str) -> bool:
    required = found.spec.node_affinity.required
    labels = {ZONE: ZONES[host], "kubernetes.io/hostname": host}
    return required is None or required.matches(labels, "")


def naive(
    wanted: Sequence[PersistentVolumeClaim],
    volumes: Sequence[PersistentVolume],
    taken: Mapping[str, str],
    selected: Mapping[str, str],
    host: str,
) -> tuple[dict[str, str], list[str]] | None:
    """One node, claim by claim, as the rule is written; None if the node does not suit."""
    if any(selected.get(c.name, host) != host for c in wanted):
        return None
    bind: dict[str, str] = {}
    provision = [c for c in wanted if c.name in selected]
    for each in sorted((c for c in wanted if c.name not in selected), key=size_of):
        owners = {
            v.name: taken.get(v.name, v.spec.claim_ref.name if v.spec.claim_ref else "")
            for v in volumes
        }
        fitting = [
            v
            for v in volumes
            if v.storage_class == each.storage_class
            and size_of(v) >= size_of(each)
            and v.name not in bind.values()
            and owners[v.name] in ("", each.name)
        ]
        own = sorted((v for v in fitting if owners[v.name] == each.name), key=lambda v: v.name)
        if own:
            fitting = own[:1]
        fitting = [v for v in fitting if reaches(v, host)]
        if fitting:
            bind[each.name] = min(fitting, key=size_of).name
        else:
            provision.append(each)
    if any(c.storage_class == "static" or ZONES[host] != "a" for c in provision):
        return None
    return bind, sorted(c.name for c in provision)


def check(
    state: SchedulingState,
    name: str,
    expected: Mapping[str, tuple[dict[str, str], list[str]] | None],
) -> None:
    result = pre_filter(VolumeBinding(), state, name)
    assert result.filter is not None
    verdicts = result.filter.verdicts()
    for host, bindings in expected.items():
        at = state.cluster.node_index[host]
        assert (verdicts[at] == 0) == (bindings is not None)
        found = state.volumes.bindings(state.group(index(state, name)), at)
        assert (dict(found.bind), list(found.provision)) == (bindings or ({}, []))


@given(
    free_volumes(),
    claims(),
    st.lists(st.lists(st.integers(0, 3), unique=True, min_size=1, max_size=3), max_size=5),
)
def test_pods_placed_one_after_the_other_get_what_the_rule_gives_them(
    volumes: list[PersistentVolume],
    wanted: list[PersistentVolumeClaim],
    mounts: list[list[int]],
) -> None:
    pods = [pod(f"p{i}", *(f"c{c}" for c in used)) for i, used in enumerate(mounts)]
    state = state_of(NODES, pods, claims=wanted, volumes=volumes, classes=CLASSES)
    taken: dict[str, str] = {}
    selected = {
        c.name: c.metadata.annotations[SELECTED_NODE]
        for c in wanted
        if SELECTED_NODE in c.metadata.annotations
    }
    fresh = [np.array(state.volumes.outcome(state.group(p)).verdicts) for p in range(len(mounts))]
    placed: list[int] = []
    for i, used in enumerate(mounts):
        needed = [wanted[c] for c in used]
        expected = {h: naive(needed, volumes, taken, selected, h) for h in HOSTS}
        check(state, f"p{i}", expected)
        host = next((h for h in HOSTS if expected[h] is not None), None)
        chosen = expected[host] if host is not None else None
        if host is None or chosen is None:
            continue
        state.place(i, state.cluster.node_index[host])
        placed.append(i)
        taken.update({v: c for c, v in chosen[0].items()})
        selected.update(dict.fromkeys(chosen[1], host))
    for i in placed:
        state.remove(i)
    for i, before in enumerate(fresh):
        assert (state.volumes.outcome(state.group(i)).verdicts == before).all()


def test_a_bound_claim_and_an_unbound_one_are_both_judged() -> None:
    state = state_of(
        NODES,
        [pod("db", "old", "new")],
        claims=[claim("old", bound_to="disk"), claim("new", storage_class="static")],
        volumes=[volume("disk", zones=["a"]), volume("free", hosts=["h0"], storage_class="static")],
        classes=CLASSES,
    )
    verdicts = state.volumes.outcome(state.group(0)).verdicts.tolist()
    assert verdicts == [0, BIND_CONFLICT, NODE_CONFLICT | BIND_CONFLICT]
