"""Which pods a question is about: targets, a namespace and labels, alike for every command.

Without anything, all pods of all namespaces. `namespace` is where targets are looked up and,
without targets, whose pods are meant; targets without it are those of `default`, or of the
namespace of the context where a running cluster was read, as for kubectl.
`all_namespaces` looks targets up everywhere. `selector` leaves the pods that have these labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from shlex import quote

from planner.api.arguments import meant
from planner.api.names import named_pods
from planner.api.selectors import label_selector
from planner.api.targets import Target, targets_of
from planner.cluster import PENDING, Cluster
from planner.errors import UsageError
from planner.sources.errors import SourceError
from planner_models.selectors import LabelSelector

DEFAULT = "default"


@dataclass(frozen=True)
class Selection:
    """A part of the pods of a cluster, as the user described it; `selection_of` makes it."""

    cluster: Cluster
    command: str
    words: tuple[str, ...]
    targets: tuple[Target, ...]
    namespace: str | None
    all_namespaces: bool
    selector: LabelSelector | None
    labels: str | None
    """The selector as it was written, if it was."""
    default: str = DEFAULT
    """The namespace of targets without one."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """The same for a command line."""
        found = [quote(word) for word in self.words]
        if self.namespace is not None:
            found += ["-n", quote(self.namespace)]
        if self.all_namespaces:
            found.append("-A")
        return (*found, *(() if self.labels is None else ("-l", quote(self.labels))))

    @property
    def everything(self) -> bool:
        """Whether nothing was left out."""
        if self.targets:
            return False
        unlimited = self.namespace is None and self.selector is None
        return unlimited or len(self.pods) == len(self.cluster.pods)

    @cached_property
    def pods(self) -> tuple[int, ...]:
        """The pods that are meant, in the order of the targets or of the input."""
        if self.targets:
            return self._chosen(pod for target in self.targets for pod in self._of(target))
        return self._chosen(range(len(self.cluster.pods)))

    @cached_property
    def asked(self) -> tuple[int, ...]:
        """The pods that want an answer: pending ones, and those that are named themselves."""
        if self.everything:
            return tuple(self.cluster.pending.tolist())
        named = {
            pod
            for target in self.targets
            if target.kind == "Pod" and target.name is not None
            for pod in self._of(target)
        }
        node_of = self.cluster.node_of
        return tuple(pod for pod in self.pods if pod in named or node_of[pod] == PENDING)

    @property
    def others(self) -> frozenset[int]:
        """All other pods."""
        if self.everything:
            return frozenset()
        return frozenset(range(len(self.cluster.pods))).difference(self.pods)

    def _of(self, target: Target) -> list[int]:
        namespace = None if self.all_namespaces else self.namespace or self.default
        return named_pods(self.cluster, target, namespace, self.command)

    def _chosen(self, pods: Iterable[int]) -> tuple[int, ...]:
        """Those of the namespace, with the labels; each once."""
        every = self.cluster.pods
        return tuple(
            pod
            for pod in dict.fromkeys(pods)
            if self.namespace in (None, every[pod].namespace)
            and (self.selector is None or self.selector.matches(every[pod].labels))
        )


def selection_of(
    cluster: Cluster,
    command: str,
    targets: Sequence[str],
    namespace: str | None,
    all_namespaces: bool,
    selector: str | LabelSelector | None,
    *,
    default: str = DEFAULT,
) -> Selection:
    """The part of the cluster that the arguments describe; names that nothing has are errors."""
    if namespace is not None and all_namespaces:
        raise UsageError(
            f"`namespace={namespace}` and `all_namespaces` contradict each other",
            help="leave one of them out",
        )
    if namespace is not None:
        _require_namespace(cluster, namespace)
    found = Selection(
        cluster,
        command,
        tuple(targets),
        targets_of(targets, command),
        namespace,
        all_namespaces,
        label_selector("selector", selector),
        selector if isinstance(selector, str) else None,
        default,
    )
    if found.selector is not None and not found.pods:
        where = "" if namespace is None else f" in namespace {namespace}"
        raise SourceError(f"no pod{where} has labels that `selector={selector}` selects")
    return found


def _require_namespace(cluster: Cluster, namespace: str) -> None:
    """A namespace that nothing in the input speaks of is a typing error; `default` always is."""
    known = {
        DEFAULT,
        *cluster.namespaces,
        *(pod.namespace for pod in cluster.pods),
        *(ref.namespace for ref in cluster.owners.controllers),
    }
    if namespace not in known:
        used = sorted(known)
        listed = f"there are {', '.join(used[:6])}{', ...' if len(used) > 6 else ''}"
        raise SourceError(
            f"the input has no namespace {namespace}", help=meant(namespace, used) or listed
        )
