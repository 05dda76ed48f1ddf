"""Explains, simulates and plans where Kubernetes pods go.

    import planner

    cluster = planner.load("cluster.json")
    plan = cluster.solve(rebalance=True, time_limit=30)
    print(plan.to_markdown())

Names are imported when they are first asked for: a program pays only for the packages it uses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.version import __version__

if TYPE_CHECKING:
    from planner.api.answers import Answer
    from planner.api.apply import ApplyReport, apply_plan
    from planner.api.capacity import Capacity
    from planner.api.check import Check, check
    from planner.api.cluster import Cluster
    from planner.api.diagnosis import Diagnosis
    from planner.api.dump import DumpReport, translate
    from planner.api.eviction_plan import EvictionPlan
    from planner.api.fleet import Fleet, FleetDecision, FleetDecisionList
    from planner.api.inspection import Inspection
    from planner.api.live import Live, live_names
    from planner.api.load import Source, load, load_fleet
    from planner.api.node_plan import NodePlan
    from planner.api.plan import Plan
    from planner.api.rbac import rbac
    from planner.api.run import run_policy, run_status
    from planner.api.simulation import Simulation
    from planner.api.sweep import Sweep, content_hash, sweep_of, sweep_rows
    from planner.api.whatif import WhatIf
    from planner.errors import PlannerError, UsageError
    from planner.interrupts import interruptible
    from planner.solver.progress import Progress
    from planner.sources.live.reader import ReadProgress
    from planner.workers import WorkerDiedError, Workers
    from planner.workers.start import start_workers
else:
    _PLACES = {
        "Answer": "api.answers",
        "ApplyReport": "api.apply",
        "Capacity": "api.capacity",
        "Check": "api.check",
        "Cluster": "api.cluster",
        "Diagnosis": "api.diagnosis",
        "DumpReport": "api.dump",
        "EvictionPlan": "api.eviction_plan",
        "Fleet": "api.fleet",
        "FleetDecision": "api.fleet",
        "FleetDecisionList": "api.fleet",
        "Inspection": "api.inspection",
        "Live": "api.live",
        "NodePlan": "api.node_plan",
        "Plan": "api.plan",
        "PlannerError": "errors",
        "Progress": "solver.progress",
        "ReadProgress": "sources.live.reader",
        "Simulation": "api.simulation",
        "Source": "api.load",
        "Sweep": "api.sweep",
        "UsageError": "errors",
        "WhatIf": "api.whatif",
        "apply_plan": "api.apply",
        "WorkerDiedError": "workers",
        "Workers": "workers",
        "check": "api.check",
        "content_hash": "api.sweep",
        "interruptible": "interrupts",
        "live_names": "api.live",
        "load": "api.load",
        "load_fleet": "api.load",
        "translate": "api.dump",
        "rbac": "api.rbac",
        "run_policy": "api.run",
        "run_status": "api.run",
        "start_workers": "workers.start",
        "sweep_of": "api.sweep",
        "sweep_rows": "api.sweep",
    }

    def __getattr__(name):
        from importlib import import_module

        if name not in _PLACES:
            raise AttributeError(f"module 'planner' has no attribute {name!r}")
        return getattr(import_module(f"planner.{_PLACES[name]}"), name)

    def __dir__():
        return sorted({*globals(), *_PLACES})


__all__ = [
    "Answer",
    "ApplyReport",
    "Capacity",
    "Check",
    "Cluster",
    "Diagnosis",
    "DumpReport",
    "EvictionPlan",
    "Fleet",
    "FleetDecision",
    "FleetDecisionList",
    "Inspection",
    "Live",
    "NodePlan",
    "Plan",
    "PlannerError",
    "Progress",
    "ReadProgress",
    "Simulation",
    "Source",
    "Sweep",
    "UsageError",
    "WhatIf",
    "WorkerDiedError",
    "Workers",
    "__version__",
    "apply_plan",
    "check",
    "content_hash",
    "interruptible",
    "live_names",
    "load",
    "load_fleet",
    "rbac",
    "run_policy",
    "run_status",
    "start_workers",
    "sweep_of",
    "sweep_rows",
    "translate",
]
