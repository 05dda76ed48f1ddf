"""Names that would be markup, commands or syntax if anybody forgot to escape them."""

from __future__ import annotations

from functools import cache

from planner.cluster import Cluster
from planner.documents.drain_plan import drain_plan
from planner.documents.eviction_plan import make_eviction_plan
from planner.documents.inspection import inspect_cluster
from planner.documents.plan import make_plan
from planner.documents.simulation import simulation_of
from planner.documents.whatif import each_document, what_if_document
from planner.drain.find import find_drain
from planner.drain.options import DrainOptions
from planner.evictions.suggestion import EvictOptions
from planner.explain.diagnose import ExplainOptions
from planner.explain.several_pods import explain_pods
from planner.scheduler.profile import default_profile
from planner.solver.problem.options import SolveOptions
from planner.whatif import Loss, Options, prepare, what_if
from planner_models.base import Document
from tests.objects import HOSTNAME, ZONE, Json, cluster_of, node, pod

HOSTILE = (
    "x|y",
    "`code`",
    "```",
    "<img src=x onerror=alert(1)>",
    "</details>",
    "]]> --> -- <!--",
    "a\n::error::pwned",
    "::stop-commands::x",
    '"]:::evil; end',
    "[a](https://evil.example)",
    "![a](b)",
    "@everyone #1",
    "# heading",
    "1. list",
    "- list",
    "> quotation",
    "***bold*** __x__ ~~y~~ $z$",
    "100%0A%25",
    "a,b:c=d",
    "{0} {{x}}",
    "\x1b[31mred\x07",
    "\u202egnp.exe",
    "&lt;b&gt;",
    "\x00\x0b",
)
EVERYTHING = " ".join(HOSTILE)


@cache
def cluster_named(name: str) -> Cluster:
    """Two pods in one zone and none in the other; a third that is too large for every node.

    Everything that may have any name has this one.
    """
    spread = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }

    def web(word: str, on: str, cpu: str) -> Json:
        containers = [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]
        spec = {"containers": containers, "topologySpreadConstraints": [spread]}
        return pod(f"{word}{name}", on, spec=spec, metadata={"labels": {"app": "web"}})

    first, second = f"a{name}", f"b{name}"
    return cluster_of(
        node(first, "eu-1a", metadata={"labels": {HOSTNAME: "a"}}),
        node(second, "eu-1b", metadata={"labels": {HOSTNAME: "b"}}),
        web("one", first, "1"),
        web("two", first, "1"),
        web("wait", "", "5"),
    )


def hostile_cluster() -> Cluster:
    """All the names above in one."""
    return cluster_named(EVERYTHING)


def hostile_documents() -> tuple[Document, ...]:
    """What every command says about that cluster."""
    return documents_named(EVERYTHING)


@cache
def documents_named(name: str) -> tuple[Document, ...]:
    """What every command says about a cluster with such names."""
    cluster, profile = cluster_named(name), default_profile()
    pods = cluster.pending.tolist()
    prepared, lost = prepare(cluster, (), profile), Loss(f"a{name}", "node", (0,))
    return (
        inspect_cluster(cluster),
        explain_pods(cluster, pods, profile, ExplainOptions()),
        simulation_of(cluster)[0],
        make_plan(cluster, SolveOptions(), profile),
        make_eviction_plan(cluster, EvictOptions(seeds=1), profile),
        drain_plan(find_drain(cluster, DrainOptions((0,), seeds=1), profile)),
        what_if_document(what_if(prepared, lost, Options(seeds=1)), (name,)),
        each_document(prepared, [lost], Options(seeds=1), pairs=False),
    )
