"""`planner scale-up` from outside: the golden cases, its formats, its exit codes and errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

import planner
from planner.cli.app import main
from planner.cli.scale_up import exit_code
from planner.examples import example_path
from planner.pools import ScaleUpOptions, offers_of, read_pools, scale_up
from planner.pools.fill import Filling
from planner.report.node_manifests import node_manifests
from planner.report.tables import scale_up_table
from planner.report.text.blocks import plain_text
from planner.scheduler.profile import default_profile
from planner.scheduler.simulate import simulate
from planner_models.node_plan import AddedNodes, Fills, NewNode, NodePlan
from tests.objects import Json, inventory_of
from tests.pools.templates import pool

ZONES = "eu-1a,eu-1b,eu-1c"
POOLS = (
    pool("c7i.large", "1930m", "3.2Gi", price="0.08925", zones=ZONES),
    pool("c7i.xlarge", "3920m", "6.8Gi", price="0.1785", zones=ZONES),
    pool("m7i.xlarge", "3920m", "14.6Gi", price="0.2016", zones=ZONES),
    pool("m7i.2xlarge", "7910m", "30Gi", price="0.4032", zones=ZONES),
)
QUOTE = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: quote}
spec:
  replicas: 3
  selector: {matchLabels: {app: quote}}
  template:
    metadata: {labels: {app: quote}}
    spec:
      containers: [{name: main, resources: {requests: {cpu: 250m, memory: 512Mi}}}]
      topologySpreadConstraints:
      - maxSkew: 1
        minDomains: 3
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {matchLabels: {app: quote}}
"""
LOST = example_path("zone-outage-lost").read_text()
Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Objects in a file of the working directory; its name."""
    monkeypatch.chdir(tmp_path)

    def written(name: str, *objects: Json | str) -> str:
        texts = [each if isinstance(each, str) else json.dumps(each) for each in objects]
        Path(name).write_text("\n---\n".join(texts))
        return name

    return written


def grown() -> str:
    """zone-outage-lost with 40 api and 24 web pods wanted."""
    wanted = {"api": 40, "web": 24}
    cluster = json.loads(LOST)
    for each in cluster["items"]:
        owners = each["metadata"].get("ownerReferences") or [{"name": each["metadata"]["name"]}]
        if each["kind"] in ("Deployment", "ReplicaSet") and owners[0]["name"] in wanted:
            each["spec"]["replicas"] = wanted[owners[0]["name"]]
    return json.dumps(cluster)


def test_seventeen_pods_need_two_small_nodes_in_each_of_two_zones(write: Write) -> None:
    cluster = planner.load(write("cluster.json", grown()))
    plan = cluster.scale_up(pools=write("pools.yaml", *POOLS))
    assert [(each.pool, each.zone, each.nodes) for each in plan.adds] == [
        ("c7i.large", "eu-1a", 2),
        ("c7i.large", "eu-1b", 2),
    ]
    assert (plan.status, plan.pending, plan.cost, plan.bound) == ("optimal", 17, 0.357, 0.357)
    assert [each.pods for each in plan.adds] == [
        {"deploy/api": 3, "deploy/web": 4},
        {"deploy/api": 3, "deploy/web": 6},
    ]
    assert [(each.node, each.pods) for each in plan.there] == [("a2", {"deploy/web": 1})]
    assert (plan.fills.agree, plan.fills.seeds) == (6, 6)


def test_autoscalers_are_shown_beside_it(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    files = ["-f", write("cluster.json", grown()), "--pools", write("pools.yaml", *POOLS)]
    assert main(["scale-up", *files, "--seeds", "1", "--no-keep-rollouts"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    told = {row[0]: row[-5:] for row in rows if row and row[-1] == "emulated"}
    assert told["Karpenter,"] == ["6", "0.5355", "1", "0", "emulated"]
    assert told["cluster-autoscaler,"][-2:] == ["0", "emulated"]
    assert main(["scale-up", *files, "--seeds", "1", "--no-keep-rollouts", "--no-compare"]) == 0
    assert "emulated" not in capsys.readouterr().out


def test_kube_scheduler_fills_the_nodes_under_twenty_seeds(write: Write) -> None:
    cluster = planner.load(write("cluster.json", grown())).snapshot
    offers = offers_of(read_pools(inventory_of(*POOLS).nodes), "price")
    profile, every = default_profile(), range(len(cluster.pods))
    found = scale_up(cluster, every, offers, profile, ScaleUpOptions(keep_rollouts=False))
    assert found.best is not None
    added = Filling(found.start, found.goal, offers, profile).add(found.best.added.counts)
    for seed in range(20):
        assert not simulate(added.cluster, [profile], seed=seed).unschedulable


def test_the_nodes_are_written_as_node_objects(write: Write) -> None:
    tainted = POOLS[0] | {"spec": {"taints": [{"key": "spot", "effect": "PreferNoSchedule"}]}}
    cluster = planner.load([write("cluster.json", LOST), write("q.yaml", QUOTE)])
    plan = cluster.scale_up(pools=write("pools.yaml", tainted))
    nodes = list(yaml.safe_load_all(plan.to_manifests()))
    assert [each["metadata"]["name"] for each in nodes] == [
        "c7i.large-eu-1c-1",
        "c7i.large-eu-1c-2",
    ]
    again = planner.load(write("nodes.yaml", plan.to_manifests())).snapshot.nodes[0]
    assert again.labels["topology.kubernetes.io/zone"] == "eu-1c"
    assert again.allocatable == {"cpu": 1930, "memory": 3435973837, "pods": 110}
    assert [str(taint) for taint in again.spec.taints] == ["spot:PreferNoSchedule"]


def test_a_new_zone_gets_enough_nodes_for_the_next_rollouts(write: Write) -> None:
    """kubernetes/autoscaler issue 5489: minDomains asks for a zone that has no node yet."""
    files = [write("cluster.json", LOST), write("q.yaml", QUOTE)]
    pools = write("pools.yaml", *POOLS)
    plan = planner.load(files).scale_up(pools=pools)
    assert [(each.pool, each.zone, each.nodes) for each in plan.adds] == [("c7i.large", "eu-1c", 2)]
    assert (plan.status, plan.cost) == ("optimal", 0.1785)
    cheaper = plan.alternatives[0]
    assert cheaper.cost == 0.08925
    karpenter = plan.baselines[-1]
    assert (karpenter.cost, len(karpenter.stuck_rollouts)) == (0.08925, 2)
    assert [(each.workload, each.waiting, each.of) for each in cheaper.stuck_rollouts] == [
        ("deploy/api", 1, 12),
        ("deploy/web", 1, 9),
    ]
    uneven = plan.side_effects[1]
    assert (uneven.kind, uneven.excess) == ("uneven", 27)
    assert planner.load(files).scale_up(pools=pools, keep_rollouts=False).cost == 0.08925


def test_it_needs_pools(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scale-up", "--example", "zone-outage-lost"]) == 2
    assert capsys.readouterr().err == (
        "error: scale-up needs pools: which nodes could be added?\n"
        "help: --pools pools.yaml: Node objects as templates\n"
    )


def test_a_pool_without_price_is_shown_in_its_file(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    files = write("a.yaml", POOLS[1]), write("pools.yaml", pool("c7i.large"))
    options = [word for file in files for word in ("--pools", file)]
    assert main(["scale-up", "--example", "zone-outage-lost", *options]) == 1
    assert capsys.readouterr().err == (
        "error: pool c7i.large has no price, and others have\n"
        '  --> pools.yaml: Node c7i.large metadata.annotations["planner/price"]\n'
        "help: price every pool, or none (then CPU is what is saved)\n"
    )


BIG = QUOTE.replace("cpu: 250m", "cpu: 64").replace("replicas: 3", "replicas: 1")
ONE = QUOTE.replace("minDomains: 3", "minDomains: 1").replace("cpu: 250m", "cpu: 3900m")


@pytest.mark.parametrize(
    ("workload", "pools", "code", "told"),
    [
        ("", POOLS, 0, "Nothing to add: no pod waits."),
        (ONE, POOLS, 0, "Optimal"),
        (BIG, POOLS, 3, "No pool's node takes 1 pod of deploy/quote: CPU (64 requested"),
        (ONE, (pool("tiny", "3920m", max="1"),), 3, "No set of nodes within the limits"),
    ],
)
def test_exit_codes(
    workload: str,
    pools: tuple[Json, ...],
    code: int,
    told: str,
    write: Write,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = [write("pools.yaml", *pools), *([write("w.yaml", workload)] if workload else [])]
    files = ["-f", given[1]] if workload else []
    arguments = ["--example", "zone-outage-lost", *files, "--pools", given[0], "--seeds", "2"]
    assert main(["scale-up", *arguments, "--no-keep-rollouts"]) == code
    assert told in capsys.readouterr().out


@pytest.mark.parametrize("output", ["json", "wide", "markdown", "github", "junit", "sarif"])
def test_every_format_shows_it(
    output: str, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["-f", write("w.yaml", ONE), "--pools", write("pools.yaml", *POOLS)]
    arguments = ["scale-up", "--example", "zone-outage-lost", *files, "--no-keep-rollouts"]
    assert main([*arguments, "-o", output, "--report", "page.html"]) == 0
    assert "Optimal" in Path("page.html").read_text()
    assert capsys.readouterr().out or output == "github"


def test_what_is_not_proven_says_what_is_needed_at_least() -> None:
    added = AddedNodes(
        pool="large",
        nodes=2,
        cpu_requested="3",
        cpu="4",
        template=NewNode(names=("large-1", "large-2")),
    )
    document = NodePlan(
        status="feasible",
        objective="price",
        pending=3,
        adds=(added,),
        cost=0.446,
        bound=0.357,
        fills=Fills(seeds=6, agree=6),
        time_limit=60,
    )
    text = plain_text(scale_up_table.blocks(document, wide=False))
    assert "Add 2 nodes for 3 pending pods: 0.446 per hour. Feasible" in text
    assert "At least 0.357 per hour is needed (gap 20%). Limit: 60s." in text
    assert exit_code(document) == 4


def test_batches_are_told_in_their_order() -> None:
    adds = tuple(
        AddedNodes(
            pool="large",
            zone=zone,
            nodes=1,
            batch=batch,
            cpu_requested="4",
            cpu="4",
            template=NewNode(names=(f"large-{zone}",)),
        )
        for batch, zone in ((1, "b"), (2, "a"))
    )
    document = NodePlan(
        status="feasible",
        objective="price",
        pending=5,
        adds=adds,
        cost=2,
        bound=1.9,
        batches=2,
        fills=Fills(seeds=6, agree=6),
        time_limit=60,
    )
    text = plain_text(scale_up_table.blocks(document, wide=False))
    assert "Add 2 nodes in 2 batches for 5 pending pods: 2 per hour." in text
    assert "Add a batch only when the one before is full" in text
    assert "At least 1.9 per hour is needed in 2 batches (gap 5%)." in text
    assert list(scale_up_table.names(document)) == ["large/b=1 batch=1", "large/a=1 batch=2"]
    manifests = node_manifests(document)
    assert manifests.index("planner/batch: '1'") < manifests.index("planner/batch: '2'")
    at_once = document.model_copy(update={"status": "optimal", "adds": adds[:1]})
    text = plain_text(scale_up_table.blocks(at_once, wide=False))
    assert "Proven: no set of nodes of these pools that comes at once is cheaper." in text


def test_batches_and_moves_do_not_go_together(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["--example", "zone-outage-lost", "--pools", write("pools.yaml", *POOLS)]
    assert main(["scale-up", *files, "--batches", "2", "--moves", "1"]) == 2
    assert "nodes that come at once" in capsys.readouterr().err


def test_names_are_pools_zones_and_counts(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    small = QUOTE.replace("minDomains: 3", "minDomains: 1").replace("cpu: 250m", "cpu: 3900m")
    files = ["-f", write("w.yaml", small), "--pools", write("pools.yaml", *POOLS)]
    assert main(["scale-up", "--example", "zone-outage-lost", *files, "-o", "name"]) == 0
    assert all("/eu-1" in line and "=" in line for line in capsys.readouterr().out.splitlines())
