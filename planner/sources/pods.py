"""Pods and templates from bytes, fast.

The sub-trees that matter are validated once per distinct text and shared: 150,000 replicas have a
few thousand of them. Validating every pod as a whole would take ten times as long.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeVar

import msgspec
from pydantic import TypeAdapter

from planner.sources.pod_row import Condition, PodRow, State, row_of
from planner.sources.pod_text import (
    ABSENT,
    NOTHING,
    ContainerText,
    PodText,
    Raw,
    SpecText,
    TemplateMetadataText,
    TemplateText,
)
from planner.sources.resize_text import ResizeText, ResourcesText
from planner_models.affinity import Affinity
from planner_models.labels import Labels
from planner_models.meta import KubeObject, OwnerReference
from planner_models.nulls import without_nulls
from planner_models.pod import (
    Container,
    ContainerPort,
    ContainerRestartRule,
    ContainerState,
    Pod,
    PodSpec,
    PodTemplate,
    TemplatePodSpec,
)
from planner_models.resize import PodResourceStatus, Resize, ResourceStatus
from planner_models.resources import Amounts, ResourceRequirements
from planner_models.taints import Toleration
from planner_models.topology_spread import TopologySpreadConstraint, check_distinct
from planner_models.volume import Volume

_NO_ANNOTATIONS: Mapping[str, str] = {}
_NO_LABELS: Mapping[str, str] = {}

T = TypeVar("T")
_Owners = tuple[OwnerReference | None, tuple[OwnerReference, ...]]


class WholePod(KubeObject):
    """A pod as one model: slow, but it knows the place of every refused value."""

    spec: TemplatePodSpec = TemplatePodSpec.defaults()
    status: PodResourceStatus = PodResourceStatus.defaults()


@lru_cache(maxsize=32)
def _adapter(kind: Any) -> TypeAdapter[Any]:
    """The validator of a type: building all of them takes longer than loading a small cluster."""
    return TypeAdapter(kind)


class _Validated:
    """Values of one type by their text: each distinct text is validated once."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        self._seen: dict[bytes, Any] = {}
        self.known = self._seen.get
        """The value of a text that was seen before; whatever else there is to know, `get` does."""

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
        adapter = _adapter(self._kind)
        if b"null" not in text:
            return adapter.validate_json(text)
        return adapter.validate_python(without_nulls(self._kind, msgspec.json.decode(text)))


class PodDecoder:
    """Decodes pods; keeps what it has validated, so one decoder serves a whole load.

    What is refused raises msgspec.MsgspecError or ValueError (pydantic's errors are such); neither
    knows where in the object the value stands. `WholePod` does.
    """

    def __init__(self) -> None:
        self._decoder = msgspec.json.Decoder(PodText)
        self._spec_decoder = msgspec.json.Decoder(SpecText)
        self._specs: dict[bytes, PodSpec] = {}
        self._resized_specs: dict[tuple[bytes, bytes], PodSpec] = {}
        self._templates: dict[bytes, TemplatePodSpec] = {}
        self._seen_containers: dict[bytes, Container] = {}
        self._labels = _Validated(Labels)
        self._annotations = _Validated(dict[str, str])
        self._owners = _Validated(tuple[OwnerReference, ...])
        self._volumes = _Validated(Volume)
        self._resources = _Validated(ResourceRequirements)
        self._amounts = _Validated(Amounts)
        self._ports = _Validated(tuple[ContainerPort, ...])
        self._restart_rules = _Validated(tuple[ContainerRestartRule, ...])
        self._affinity = _Validated(Affinity)
        self._tolerations = _Validated(tuple[Toleration, ...])
        self._constraints = _Validated(tuple[TopologySpreadConstraint, ...])
        self._rest = _Validated(PodSpec)
        self._seen_owners: dict[bytes, _Owners] = {}
        self._seen_states: dict[bytes, tuple[ContainerState, ...]] = {b"": ()}
        self._seen_conditions: dict[bytes, tuple[tuple[str, str, str], ...]] = {b"": ()}

    def decode(self, data: msgspec.Raw | bytes | memoryview) -> Pod:
        """One pod from its JSON text."""
        return self.pod(row_of(self._decoder.decode(data)))

    def pod(self, row: PodRow) -> Pod:
        """One pod from its row; texts that were seen before, as most were, are looked up here."""
        owners = self._seen_owners.get(row.owners)
        if owners is None:
            owners = self._seen_owners[row.owners] = self._owners_of(row.owners)
        labels = self._labels.known(row.labels)
        if labels is None:
            labels = self._labels.get(row.labels, _NO_LABELS)
        spec = None if row.resize else self._specs.get(row.spec)
        if spec is None:
            spec = self._resized(row) if row.resize else self._spec(row.spec)
        states = self._seen_states.get(row.states)
        conditions = self._seen_conditions.get(row.conditions)
        return Pod(
            namespace=row.namespace,
            name=row.name,
            uid=row.uid,
            labels=labels,
            annotations=row.annotations or _NO_ANNOTATIONS,
            owner=owners[0],
            other_owners=owners[1],
            spec=spec,
            volumes=tuple([self._volumes.get(text, _NO_VOLUME) for text in row.volumes])
            if row.volumes
            else (),
            node_name=row.node_name,
            nominated_node_name=row.nominated_node_name,
            phase=row.phase,
            terminating=row.terminating,
            preempted=row.preempted,
            ready=row.ready,
            created=row.created,
            started=row.started,
            qos_class=row.qos_class,
            reason=row.reason,
            container_states=self._states(row.states) if states is None else states,
            condition_kinds=self._conditions(row.conditions) if conditions is None else conditions,
            condition_times=row.condition_times,
            scheduler_message=row.scheduler_message,
            finalizers=row.finalizers,
        )

    def template(self, text: TemplateText) -> PodTemplate:
        """A workload's template; the spec is shared by revisions that have the same one."""
        meta, spec = text.metadata or TemplateMetadataText(), text.spec or SpecText()
        key = spec.text()
        found = self._templates.get(key)
        if found is None:
            shared = self._spec(spec.shared())
            found = self._templates[key] = _NO_TEMPLATE.spec.replace(
                **{name: getattr(shared, name) for name in PodSpec.model_fields},
                node_name=spec.node_name or "",
                volumes=self._volumes_of(spec),
            )
        labels: dict[str, str] = self._labels.get(meta.labels, {})
        annotations: dict[str, str] = self._annotations.get(meta.annotations, {})
        metadata = _NO_TEMPLATE.metadata.replace(labels=labels, annotations=annotations)
        return _NO_TEMPLATE.replace(metadata=metadata, spec=found)

    def _owners_of(self, text: bytes) -> _Owners:
        """The managing controller, and the other owners."""
        owners: tuple[OwnerReference, ...] = self._owners.get(text, ())
        if len(owners) == 1 and owners[0].controller:
            return owners[0], ()
        managing = next((owner for owner in owners if owner.controller), None)
        return managing, tuple(owner for owner in owners if owner is not managing)

    def _states(self, text: bytes) -> tuple[ContainerState, ...]:
        """What the statuses say beyond "it runs"; equal ones are shared."""
        states = msgspec.json.decode(text, type=list[State])
        found = self._seen_states[text] = tuple([ContainerState(*state) for state in states])
        return found

    def _conditions(self, text: bytes) -> tuple[tuple[str, str, str], ...]:
        """(type, status, reason) of the conditions: nearly all pods have the same ones."""
        listed = msgspec.json.decode(text, type=list[Condition])
        found = self._seen_conditions[text] = tuple(
            [(kind or "", status or "", reason or "") for kind, status, reason in listed]
        )
        return found

    def _volumes_of(self, spec: SpecText) -> tuple[Volume, ...]:
        texts = [volume.text() for volume in spec.volumes or ()]
        return tuple([self._volumes.get(text, _NO_VOLUME) for text in texts if text])

    def _spec(self, text: bytes) -> PodSpec:
        spec = self._specs.get(text)
        if spec is None:
            spec = self._specs[text] = self._build_spec(self._spec_decoder.decode(text))
        return spec

    def _resized(self, row: PodRow) -> PodSpec:
        """The spec with the requests that count while the pod is resized."""
        key = (row.spec, row.resize)
        found = self._resized_specs.get(key)
        if found is None:
            text = msgspec.json.decode(row.resize, type=ResizeText)
            resize = Resize(
                containers={name: self._status(status) for name, status in text.containers.items()},
                pod=None if text.pod is None else self._status(text.pod),
                infeasible=text.infeasible,
            )
            spec = self._spec(row.spec)
            counted = resize.effective(spec)
            found = self._resized_specs[key] = spec if counted == spec else counted
        return found

    def _status(self, text: ResourcesText) -> ResourceStatus:
        return _NO_STATUS.replace(
            resources=self._resources.get(text.resources, _NO_RESOURCES),
            allocated_resources=self._amounts.get(text.allocated_resources, _NO_AMOUNTS),
        )

    def _build_spec(self, text: SpecText) -> PodSpec:
        """A spec from its sub-trees; those are shared even where the whole differs.

        DaemonSet pods, for instance, differ in nothing but the node their affinity names.
        """
        return self._rest.get(text.rest(), _NO_SPEC).replace(
            containers=self._containers(text.containers),
            init_containers=self._containers(text.init_containers),
            affinity=self._affinity.get(text.affinity, _NO_AFFINITY),
            tolerations=self._tolerations.get(text.tolerations, ()),
            topology_spread_constraints=self._spread(text.topology_spread_constraints),
        )

    def _spread(self, text: Raw) -> tuple[TopologySpreadConstraint, ...]:
        """Constraints are in a template as in its pods, whatever else was defaulted in these."""
        constraints: tuple[TopologySpreadConstraint, ...] = self._constraints.get(text, ())
        check_distinct(constraints)
        return constraints

    def _containers(self, texts: list[ContainerText] | None) -> tuple[Container, ...]:
        return tuple([self._container(text) for text in texts or ()])

    def _container(self, text: ContainerText) -> Container:
        key = text.text()
        found = self._seen_containers.get(key)
        if found is None:
            found = self._seen_containers[key] = _NO_CONTAINER.replace(
                name=text.name or "",
                image=text.image or "",
                resources=self._resources.get(text.resources, _NO_RESOURCES),
                ports=self._ports.get(text.ports, ()),
                restart_policy=text.restart_policy or "",
                restart_policy_rules=self._restart_rules.get(text.restart_policy_rules, ()),
            )
        return found


_NO_SPEC = PodSpec.defaults()
_NO_TEMPLATE = PodTemplate.defaults()
_NO_CONTAINER = Container.defaults()
_NO_VOLUME = Volume(name="")
_NO_RESOURCES = ResourceRequirements.defaults()
_NO_AMOUNTS: Mapping[str, int] = {}
_NO_STATUS = ResourceStatus.defaults()
_NO_AFFINITY = Affinity.defaults()
