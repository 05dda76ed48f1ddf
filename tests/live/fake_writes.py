"""What the fake API server lets be written: evictions, nodes, Leases, Events, and who one is.

The Eviction API is that of v1.36: the disruption is taken out of the budget *before* the uid is
compared, and with dryRun nothing is taken at all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

from tests.live.fake_requests import Json, Request, status

Answer = tuple[int, Mapping[str, str], Any]
NAME = "([^/]+)"
EVICTION = re.compile(rf"/api/v1/namespaces/{NAME}/pods/{NAME}/eviction")
NODE = re.compile(rf"/api/v1/nodes/{NAME}")
LEASES = re.compile(rf"/apis/coordination.k8s.io/v1/namespaces/{NAME}/leases(?:/{NAME})?")
EVENTS = re.compile(rf"/apis/events.k8s.io/v1/namespaces/{NAME}/events")
CONFIG_MAPS = re.compile(rf"/api/v1/namespaces/{NAME}/configmaps(?:/{NAME})?")
OWNER_OR_POD = re.compile(
    rf"(?:/api|/apis/apps)/v1/namespaces/{NAME}/(pods|[a-z]+sets|deployments)/{NAME}"
)
REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
HEADS = {
    "nodes": {"kind": "Node", "apiVersion": "v1"},
    "leases": {"kind": "Lease", "apiVersion": "coordination.k8s.io/v1"},
    "events": {"kind": "Event", "apiVersion": "events.k8s.io/v1"},
    "configmaps": {"kind": "ConfigMap", "apiVersion": "v1"},
}
LAG = "The disruption budget {} is still being processed by the server."
NEEDS = "The disruption budget {} needs {} healthy pods and has {} currently"
VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget."
SEVERAL = (
    "This pod has more than one PodDisruptionBudget, "
    "which the eviction subresource does not support."
)


class Store(Protocol):
    """The objects."""

    user: str
    forbidden: set[str]

    def found(self, resource: str, key: str) -> Json | None: ...

    def all_of(self, resource: str) -> list[Json]: ...

    def put(self, item: Json) -> Json: ...

    def end_pod(self, pod: Json) -> None: ...


def written(api: Store, request: Request) -> Answer | None:
    """The answer to a request for one object; None if it is for none of these."""
    path = request.path
    if path == REVIEWS and request.method == "POST":
        return 201, {}, {"status": {"userInfo": {"username": api.user}}}
    if (match := EVICTION.fullmatch(path)) and request.method == "POST":
        return _evicted(api, f"{match[1]}/{match[2]}", request)
    if match := NODE.fullmatch(path):
        return _one(api, "nodes", "", match[1], request)
    if match := LEASES.fullmatch(path):
        return _one(api, "leases", match[1], match[2], request)
    if match := EVENTS.fullmatch(path):
        return _one(api, "events", match[1], None, request)
    if match := CONFIG_MAPS.fullmatch(path):
        return _one(api, "configmaps", match[1], match[2], request)
    if (match := OWNER_OR_POD.fullmatch(path)) and request.method == "GET":
        one = api.found(match[2], f"{match[1]}/{match[3]}")
        missing = status(404, "NotFound", f'{match[2]} "{match[3]}" not found')
        return missing if one is None else (200, {}, one)
    return None


def _one(api: Store, resource: str, namespace: str, name: str | None, request: Request) -> Answer:
    verb = {"GET": "get", "POST": "create", "PATCH": "patch"}.get(request.method)
    if verb is None:
        return status(405, "MethodNotAllowed", "the server does not allow this method")
    if resource in api.forbidden or f"{verb} {resource}" in api.forbidden:
        return forbidden(api, verb, resource)
    name = name or request.body["metadata"]["name"]
    before = api.found(resource, f"{namespace}/{name}")
    if verb == "create":
        if before is not None:
            return status(409, "AlreadyExists", f'{resource} "{name}" already exists')
        made = {**request.body, **HEADS[resource]}
        inside = {"namespace": namespace} if namespace else {}
        made["metadata"] = {**made["metadata"], **inside, "uid": f"uid-{name}"}
        return 201, {}, {**HEADS[resource], **api.put(made)}
    if before is None:
        return status(404, "NotFound", f'{resource} "{name}" not found')
    if verb == "get":
        return 200, {}, {**HEADS[resource], **before}
    wanted = request.body.get("metadata", {}).get("resourceVersion")
    if wanted not in (None, before["metadata"]["resourceVersion"]):
        return status(409, "Conflict", f'Operation cannot be fulfilled on {resource} "{name}"')
    return (
        200,
        {},
        {**HEADS[resource], **api.put({**merged(before, request.body), **HEADS[resource]})},
    )


def merged(before: Any, patch: Any) -> Any:
    """A merge patch (RFC 7386)."""
    if not isinstance(patch, dict):
        return patch
    start = before if isinstance(before, dict) else {}
    changed = {
        key: merged(start.get(key), value) for key, value in patch.items() if value is not None
    }
    return {
        key: value for key, value in {**start, **changed}.items() if patch.get(key, 0) is not None
    }


def forbidden(api: Store, verb: str, resource: str) -> Answer:
    return status(
        403,
        "Forbidden",
        f'{resource} is forbidden: User "{api.user}" cannot {verb} resource "{resource}"',
    )


def _evicted(api: Store, key: str, request: Request) -> Answer:
    if "pods/eviction" in api.forbidden:
        return forbidden(api, "create", "pods/eviction")
    name = key.partition("/")[2]
    pod = api.found("pods", key)
    if pod is None:
        return status(404, "NotFound", f'pods "{name}" not found')
    options = request.body.get("deleteOptions") or {}
    dry = bool(request.query.get("dryRun") or options.get("dryRun"))
    if (
        pod.get("status", {}).get("phase") != "Pending"
        and "deletionTimestamp" not in pod["metadata"]
    ):
        refused = _budget(api, pod, dry)
        if refused is not None:
            return refused
    wanted = (options.get("preconditions") or {}).get("uid")
    if wanted not in (None, pod["metadata"].get("uid")):
        return status(
            409,
            "Conflict",
            f'Operation cannot be fulfilled on Pod "{name}": '
            f"the UID in the precondition ({wanted}) does "
            f"not match the UID in record ({pod['metadata'].get('uid')}).",
        )
    if not dry:
        api.end_pod(pod)
    return (
        201,
        {},
        {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201},
    )


def _budget(api: Store, pod: Json, dry: bool) -> Answer | None:
    """Take one disruption out of the pod's budget; what keeps it from that is the answer."""
    budgets = [each for each in api.all_of("poddisruptionbudgets") if _selects(each, pod)]
    if len(budgets) > 1:
        return status(500, "InternalError", SEVERAL)
    if not budgets:
        return None
    (budget,) = budgets
    counts = budget.get("status") or {}
    if not _ready(pod) and _unhealthy_may_go(budget, counts):
        return None
    name = budget["metadata"]["name"]
    if counts.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        return _too_many(LAG.format(name), {"Retry-After": "10"})
    if counts.get("disruptionsAllowed", 0) <= 0:
        return _too_many(
            NEEDS.format(name, counts.get("desiredHealthy", 0), counts.get("currentHealthy", 0))
        )
    if not dry:
        left = {**counts, "disruptionsAllowed": counts["disruptionsAllowed"] - 1}
        api.put(
            {**budget, "status": left, "kind": "PodDisruptionBudget", "apiVersion": "policy/v1"}
        )
    return None


def _too_many(cause: str, headers: Mapping[str, str] | None = None) -> Answer:
    causes = [{"reason": "DisruptionBudget", "message": cause}]
    code, _, body = status(429, "TooManyRequests", VIOLATES, causes)
    return code, headers or {}, body


def _unhealthy_may_go(budget: Json, counts: Json) -> bool:
    if budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    return bool(counts.get("currentHealthy", 0) >= counts.get("desiredHealthy", 0) > 0)


def _ready(pod: Json) -> bool:
    conditions = pod.get("status", {}).get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def _selects(budget: Json, pod: Json) -> bool:
    wanted = (budget["spec"].get("selector") or {}).get("matchLabels") or {}
    labels = pod["metadata"].get("labels") or {}
    same = budget["metadata"].get("namespace") == pod["metadata"].get("namespace")
    return bool(same and wanted.items() <= labels.items())
