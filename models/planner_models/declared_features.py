"""Features that a pod asks of its node (KEP 5328), as kube-scheduler v1.36 infers them.

A kubelet lists in `status.declaredFeatures` what it can do. The registry of v1.36 has five
features; two of them are asked for when a pod is scheduled, the others only when it is resized or
not at all. None of the two ends with a version: a newer scheduler asks for them all the same.
"""

from __future__ import annotations

from typing import Protocol

RESTART_ALL_CONTAINERS = "RestartAllContainersOnContainerExits"
USER_NAMESPACES_HOST_NETWORK = "UserNamespacesHostNetworkSupport"

RESTART_ALL = "RestartAllContainers"
"""The action of a container's restart rule that not every kubelet knows."""

ASKED_FOR_BY = {
    RESTART_ALL_CONTAINERS: "spec.containers[*].restartPolicyRules[*].action",
    USER_NAMESPACES_HOST_NETWORK: "spec.hostUsers",
}
"""The field that asks for a feature, to be shown to people."""


class _RestartRule(Protocol):
    @property
    def action(self) -> str: ...


class _Container(Protocol):
    @property
    def restart_policy_rules(self) -> tuple[_RestartRule, ...]: ...


class _PodSpec(Protocol):
    @property
    def containers(self) -> tuple[_Container, ...]: ...
    @property
    def init_containers(self) -> tuple[_Container, ...]: ...
    @property
    def host_network(self) -> bool: ...
    @property
    def host_users(self) -> bool | None: ...


def required_features(spec: _PodSpec) -> tuple[str, ...]:
    """What a node has to declare for a pod with this spec, by name."""
    found = []
    rules = (r for c in (*spec.containers, *spec.init_containers) for r in c.restart_policy_rules)
    if any(rule.action == RESTART_ALL for rule in rules):
        found.append(RESTART_ALL_CONTAINERS)
    if spec.host_network and spec.host_users is False:
        found.append(USER_NAMESPACES_HOST_NETWORK)
    return tuple(found)
