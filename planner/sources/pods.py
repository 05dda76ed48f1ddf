"""Pods and templates from bytes, fast.

The sub-trees that matter are validated once per distinct text and shared: 150,000 replicas have a
few thousand of them. Validating every pod as a whole would take ten times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar

import msgspec
from pydantic import TypeAdapter

from models.affinity import Affinity
from models.labels import Labels
from models.meta import KubeObject, OwnerReference
from models.nulls import without_nulls
from models.pod import (
    Container,
    ContainerKind,
    ContainerPort,
    ContainerState,
    Pod,
    PodSpec,
    PodTemplate,
    TemplatePodSpec,
)
from models.resources import ResourceRequirements
from models.taints import Toleration
from models.volume import Volume
from planner.sources.pod_text import (
    ABSENT,
    NOTHING,
    Annotations,
    ContainerStatusText,
    ContainerText,
    MetadataText,
    PodText,
    Raw,
    SpecText,
    StatusText,
    TemplateMetadataText,
    TemplateText,
)

ANNOTATIONS = tuple(
    (field.name, field.encode_name) for field in msgspec.structs.fields(Annotations)
)
_NO_ANNOTATIONS: Mapping[str, str] = {}

T = TypeVar("T")


class WholePod(KubeObject):
    """A pod as one model: slow, but it knows the place of every refused value."""

    spec: TemplatePodSpec = TemplatePodSpec()


class _Validated:
    """Values of one type by their text: each distinct text is validated once."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        self._adapter: TypeAdapter[Any] = TypeAdapter(kind)
        self._seen: dict[bytes, Any] = {}

    def get(self, raw: Raw | bytes, default: T) -> T:
        if raw is NOTHING:
            return default
        text = bytes(raw)
        if text in ABSENT:
            return default
        value: T | None = self._seen.get(text)
        if value is None:
            compact = msgspec.json.format(text, indent=-1) if b"\n" in text else text
            value = self._seen[text] = self._get_compact(compact)
        return value

    def _get_compact(self, text: bytes) -> Any:
        """The same without indentation, in which a template and its pods differ."""
        value = self._seen.get(text)
        if value is None:
            value = self._seen[text] = self._validate(text)
        return value

    def _validate(self, text: bytes) -> Any:
        if b"null" not in text:
            return self._adapter.validate_json(text)
        return self._adapter.validate_python(without_nulls(self._kind, msgspec.json.decode(text)))


class PodDecoder:
    """Decodes pods; keeps what it has validated, so one decoder serves a whole load.

    What is refused raises msgspec.MsgspecError or ValueError (pydantic's errors are such); neither
    knows where in the object the value stands. `WholePod` does.
    """

    def __init__(self) -> None:
        self._decoder = msgspec.json.Decoder(PodText)
        self._specs: dict[tuple[object, ...], PodSpec] = {}
        self._templates: dict[tuple[object, ...], TemplatePodSpec] = {}
        self._seen_containers: dict[tuple[object, ...], Container] = {}
        self._labels = _Validated(Labels)
        self._annotations = _Validated(dict[str, str])
        self._owners = _Validated(tuple[OwnerReference, ...])
        self._volumes = _Validated(Volume)
        self._resources = _Validated(ResourceRequirements)
        self._ports = _Validated(tuple[ContainerPort, ...])
        self._affinity = _Validated(Affinity)
        self._tolerations = _Validated(tuple[Toleration, ...])
        self._rest = _Validated(PodSpec)
        self._states: dict[ContainerState, ContainerState] = {}
        self._kinds: dict[tuple[tuple[str, str, str], ...], tuple[tuple[str, str, str], ...]] = {}

    def decode(self, data: msgspec.Raw | bytes | memoryview) -> Pod:
        """One pod from its JSON text."""
        return self.pod(self._decoder.decode(data))

    def pod(self, text: PodText) -> Pod:
        """One pod from the parts of its text."""
        meta, spec = text.metadata or MetadataText(), text.spec or SpecText()
        status = text.status or StatusText()
        owner, other_owners = self._owners_of(meta.owner_references)
        kinds, times = self._conditions(status)
        return Pod(
            namespace=meta.namespace or "default",
            name=meta.name or "",
            uid=meta.uid or "",
            labels=self._labels.get(meta.labels, {}),
            annotations=_annotations(meta.annotations),
            owner=owner,
            other_owners=other_owners,
            spec=self._spec(spec),
            volumes=self._volumes_of(spec),
            node_name=spec.node_name or "",
            nominated_node_name=status.nominated_node_name or "",
            phase=status.phase or "Pending",
            terminating=meta.deletion_timestamp is not None,
            preempted=meta.deletion_timestamp is not None and _preempted(status),
            ready=_ready(status),
            created=_time(meta.creation_timestamp),
            started=_time(status.start_time),
            qos_class=status.qos_class or None,
            reason=status.reason or "",
            container_states=self._container_states(status),
            condition_kinds=kinds,
            condition_times=times,
        )

    def template(self, text: TemplateText) -> PodTemplate:
        """A workload's template; the spec is shared by revisions that have the same one."""
        meta, spec = text.metadata or TemplateMetadataText(), text.spec or SpecText()
        key = (spec.key(), spec.node_name, tuple([v.text() for v in spec.volumes or ()]))
        found = self._templates.get(key)
        if found is None:
            shared = self._spec(spec)
            found = self._templates[key] = _NO_TEMPLATE.spec.replace(
                **{name: getattr(shared, name) for name in PodSpec.model_fields},
                node_name=spec.node_name or "",
                volumes=self._volumes_of(spec),
            )
        labels: dict[str, str] = self._labels.get(meta.labels, {})
        annotations: dict[str, str] = self._annotations.get(meta.annotations, {})
        metadata = _NO_TEMPLATE.metadata.replace(labels=labels, annotations=annotations)
        return _NO_TEMPLATE.replace(metadata=metadata, spec=found)

    def _owners_of(self, raw: Raw) -> tuple[OwnerReference | None, tuple[OwnerReference, ...]]:
        """The managing controller, and the other owners."""
        owners: tuple[OwnerReference, ...] = self._owners.get(raw, ())
        if len(owners) == 1 and owners[0].controller:
            return owners[0], ()
        managing = next((owner for owner in owners if owner.controller), None)
        return managing, tuple(owner for owner in owners if owner is not managing)

    def _container_states(self, status: StatusText) -> tuple[ContainerState, ...]:
        """What the statuses say beyond "it runs"; equal ones are shared."""
        found: list[ContainerState] = []
        listed: tuple[tuple[ContainerKind, list[ContainerStatusText] | None], ...] = (
            ("main", status.container_statuses),
            ("init", status.init_container_statuses),
            ("ephemeral", status.ephemeral_container_statuses),
        )
        for kind, containers in listed:
            for container in containers or ():
                state = _container_state(kind, container)
                if state is not None:
                    found.append(self._states.setdefault(state, state))
        return tuple(found)

    def _conditions(self, status: StatusText) -> tuple[tuple[tuple[str, str, str], ...], str]:
        """(type, status, reason) of the conditions, and their times as text."""
        if not status.conditions:
            return (), ""
        kinds = tuple([(c.type or "", c.status or "", c.reason or "") for c in status.conditions])
        times = ",".join([c.last_transition_time or "" for c in status.conditions])
        return self._kinds.setdefault(kinds, kinds), times

    def _volumes_of(self, spec: SpecText) -> tuple[Volume, ...]:
        if not spec.volumes:
            return ()
        texts = [volume.text() for volume in spec.volumes]
        return tuple([self._volumes.get(text, _NO_VOLUME) for text in texts if text])

    def _spec(self, text: SpecText) -> PodSpec:
        key = text.key()
        spec = self._specs.get(key)
        if spec is None:
            spec = self._specs[key] = self._build_spec(text)
        return spec

    def _build_spec(self, text: SpecText) -> PodSpec:
        """A spec from its sub-trees; those are shared even where the whole differs.

        DaemonSet pods, for instance, differ in nothing but the node their affinity names.
        """
        return self._rest.get(_rest_text(text), _NO_SPEC).replace(
            containers=self._containers(text.containers),
            init_containers=self._containers(text.init_containers),
            affinity=self._affinity.get(text.affinity, _NO_AFFINITY),
            tolerations=self._tolerations.get(text.tolerations, ()),
        )

    def _containers(self, texts: list[ContainerText] | None) -> tuple[Container, ...]:
        return tuple([self._container(text) for text in texts or ()])

    def _container(self, text: ContainerText) -> Container:
        key = text.key()
        found = self._seen_containers.get(key)
        if found is None:
            found = self._seen_containers[key] = _NO_CONTAINER.replace(
                name=text.name or "",
                image=text.image or "",
                resources=self._resources.get(text.resources, _NO_RESOURCES),
                ports=self._ports.get(text.ports, ()),
                restart_policy=text.restart_policy or "",
            )
        return found


_NO_SPEC = PodSpec()
_NO_TEMPLATE = PodTemplate()
_NO_CONTAINER = Container()
_NO_VOLUME = Volume(name="")
_NO_RESOURCES = ResourceRequirements()
_NO_AFFINITY = Affinity()
_REST: tuple[tuple[bytes, Callable[[SpecText], Raw]], ...] = (
    (b"resources", lambda s: s.resources),
    (b"overhead", lambda s: s.overhead),
    (b"nodeSelector", lambda s: s.node_selector),
    (b"topologySpreadConstraints", lambda s: s.topology_spread_constraints),
    (b"priority", lambda s: s.priority),
    (b"priorityClassName", lambda s: s.priority_class_name),
    (b"preemptionPolicy", lambda s: s.preemption_policy),
    (b"schedulerName", lambda s: s.scheduler_name),
    (b"schedulingGates", lambda s: s.scheduling_gates),
    (b"hostNetwork", lambda s: s.host_network),
    (b"runtimeClassName", lambda s: s.runtime_class_name),
    (b"resourceClaims", lambda s: s.resource_claims),
)


def _rest_text(spec: SpecText) -> bytes:
    """The part of a spec that needs no cache of its own, as one JSON object."""
    parts = [
        b'"%s":%s' % (name, text) for name, get in _REST if (text := bytes(get(spec))) not in ABSENT
    ]
    return b"{" + b",".join(parts) + b"}"


def _annotations(text: Annotations | None) -> Mapping[str, str]:
    if text is None:
        return _NO_ANNOTATIONS
    found = {key: value for name, key in ANNOTATIONS if (value := getattr(text, name)) is not None}
    return found or _NO_ANNOTATIONS


def _ready(status: StatusText) -> bool:
    """The Ready condition; a running pod that nobody says more about counts as ready."""
    for condition in status.conditions or ():
        if condition.type == "Ready":
            return condition.status == "True"
    return status.phase == "Running"


def _preempted(status: StatusText) -> bool:
    """Whether kube-scheduler marked the pod as a victim before it deleted it."""
    for condition in status.conditions or ():
        if condition.type == "DisruptionTarget":
            return condition.status == "True" and condition.reason == "PreemptionByScheduler"
    return False


def _container_state(kind: ContainerKind, status: ContainerStatusText) -> ContainerState | None:
    """The state of a container, unless it runs and was never started again."""
    waiting = terminated = None
    if status.state is not None:
        waiting, terminated = status.state.waiting, status.state.terminated
    if waiting is None and terminated is None and not status.restart_count:
        return None
    return ContainerState(
        kind,
        status.restart_count or 0,
        None if waiting is None else waiting.reason or "",
        None if terminated is None else terminated.reason or "",
        None if terminated is None else terminated.exit_code or 0,
    )


def _time(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp())
