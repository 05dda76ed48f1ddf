"""The rights that planner needs, as a role to hand to an administrator."""

from __future__ import annotations

from collections import defaultdict

from planner.sources.live.kinds import KINDS

HEAD = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {name}
rules:
"""
RULE = """\
- apiGroups: ["{group}"]
  resources: [{resources}]
  verbs: [{verbs}]
"""
LOCK = """\
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {name}
  namespace: kube-system
rules:
- apiGroups: ["coordination.k8s.io"]
  resources: [leases]
  verbs: [create]
- apiGroups: ["coordination.k8s.io"]
  resources: [leases]
  resourceNames: [planner]
  verbs: [get, patch]
"""


def roles(*, apply: bool = False, events: bool = False) -> str:
    """A ClusterRole that reads the lists of planner and nothing else, as YAML.

    `apply` adds what carrying out plans needs: evictions, cordons, and the lock that keeps two of
    them apart, which is in kube-system alone. `events` lets planner tell what it did.
    """
    name = "planner-apply" if apply else "planner-read"
    groups: dict[str, list[str]] = defaultdict(list)
    for kind in KINDS:
        groups[kind.group].append(kind.resource)
    rules = [(group, ", ".join(sorted(names)), "get, list") for group, names in groups.items()]
    if apply:
        rules += [("", "pods/eviction", "create"), ("", "nodes", "patch")]
    if events:
        rules.append(("events.k8s.io", "events", "create"))
    text = HEAD.format(name=name) + "".join(
        RULE.format(group=group, resources=resources, verbs=verbs)
        for group, resources, verbs in rules
    )
    return text + LOCK.format(name=name) if apply else text
