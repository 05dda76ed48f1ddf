"""The kinds of objects that users name, in kubectl's spellings."""

from __future__ import annotations

KINDS = {
    "Pod": ("pod", "pods", "po"),
    "Deployment": ("deploy", "deployment", "deployments"),
    "ReplicaSet": ("rs", "replicaset", "replicasets"),
    "StatefulSet": ("sts", "statefulset", "statefulsets"),
    "DaemonSet": ("ds", "daemonset", "daemonsets"),
    "Job": ("job", "jobs"),
    "ReplicationController": ("rc", "replicationcontroller", "replicationcontrollers"),
}
"""Pods and their owners, which targets may be."""
OTHERS = {
    "Service": ("svc", "service", "services"),
    "Node": ("no", "node", "nodes"),
    "PersistentVolumeClaim": ("pvc", "persistentvolumeclaim", "persistentvolumeclaims"),
}
"""Kinds that users try all the same."""
_KIND_OF = {name: kind for kind, names in (KINDS | OTHERS).items() for name in names}


def kind_of(word: str) -> str | None:
    """The kind that a word means: `deploy`, `Deployments`, `deployments.apps`."""
    return _KIND_OF.get(word.partition(".")[0].lower())
