"""Everything but pods from bytes: pruned to what a model reads, then validated by it.

Most of an object's text is bookkeeping (managed fields, annotations of other tools) and, in a
workload, the template. The former is cut out before the model sees the text; templates go the way
of pods, because a Deployment and its revisions mostly have the same one.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from pydantic import BaseModel

from planner.sources.pod_text import Raw, TemplateText
from planner.sources.pods import PodDecoder
from planner_models.workload import Controller, CronJob

M = TypeVar("M", bound=BaseModel)
_UNSET: Any = msgspec.UNSET


class _Metadata(msgspec.Struct, rename="camel", omit_defaults=True, gc=False):
    name: Raw = _UNSET
    namespace: Raw = _UNSET
    uid: Raw = _UNSET
    resource_version: Raw = _UNSET
    generation: Raw = _UNSET
    labels: Raw = _UNSET
    annotations: Raw = _UNSET
    owner_references: Raw = _UNSET
    creation_timestamp: Raw = _UNSET
    deletion_timestamp: Raw = _UNSET


class _Workload(msgspec.Struct, rename="camel", gc=False):
    metadata: _Metadata | None = None
    spec: _WorkloadSpec | None = None
    status: _WorkloadStatus | None = None


class _WorkloadSpec(msgspec.Struct, rename="camel", omit_defaults=True, gc=False):
    replicas: Raw = _UNSET
    min_ready_seconds: Raw = _UNSET
    selector: Raw = _UNSET
    strategy: Raw = _UNSET
    service_name: Raw = _UNSET
    volume_claim_templates: Raw = _UNSET
    ordinals: Raw = _UNSET
    parallelism: Raw = _UNSET
    completions: Raw = _UNSET
    suspend: Raw = _UNSET
    completion_mode: Raw = _UNSET
    paused: Raw = _UNSET
    pod_management_policy: Raw = _UNSET
    update_strategy: Raw = _UNSET
    backoff_limit: Raw = _UNSET
    backoff_limit_per_index: Raw = _UNSET
    pod_failure_policy: Raw = _UNSET
    pod_replacement_policy: Raw = _UNSET
    managed_by: Raw = _UNSET
    template: TemplateText | None = None


class _JobTemplate(msgspec.Struct, rename="camel", omit_defaults=True, gc=False):
    spec: _WorkloadSpec | None = None


class _CronJobSpec(msgspec.Struct, rename="camel", omit_defaults=True, gc=False):
    schedule: Raw = _UNSET
    suspend: Raw = _UNSET
    job_template: _JobTemplate | None = None


class _CronJob(msgspec.Struct, rename="camel", omit_defaults=True, gc=False):
    metadata: _Metadata | None = None
    spec: _CronJobSpec | None = None


class _WorkloadStatus(msgspec.Struct, rename="camel", omit_defaults=True, gc=False):
    succeeded: Raw = _UNSET
    failed: Raw = _UNSET
    current_revision: Raw = _UNSET
    update_revision: Raw = _UNSET
    current_replicas: Raw = _UNSET
    conditions: Raw = _UNSET


class _Object(msgspec.Struct, rename="camel", omit_defaults=True, gc=False):
    metadata: _Metadata | None = None
    spec: Raw = _UNSET
    status: Raw = _UNSET
    value: Raw = _UNSET
    global_default: Raw = _UNSET
    preemption_policy: Raw = _UNSET
    provisioner: Raw = _UNSET
    volume_binding_mode: Raw = _UNSET
    allowed_topologies: Raw = _UNSET
    node_topology: Raw = _UNSET
    storage_class_name: Raw = _UNSET
    capacity: Raw = _UNSET
    maximum_volume_size: Raw = _UNSET


class ObjectDecoder:
    """Decodes objects of the known kinds. Raises like PodDecoder, without knowing the place."""

    def __init__(self, pods: PodDecoder) -> None:
        self._pods = pods
        self._workload = msgspec.json.Decoder(_Workload)
        self._cron_job = msgspec.json.Decoder(_CronJob)
        self._object = msgspec.json.Decoder(_Object)
        self._encode = msgspec.json.Encoder().encode

    def decode(self, model: type[M], data: msgspec.Raw | bytes | memoryview) -> M:
        """One object of a kind that has metadata."""
        if issubclass(model, Controller):
            return self._workload_of(model, data)
        if issubclass(model, CronJob):
            return self._cron_job_of(model, data)
        return model.model_validate_json(self._encode(self._object.decode(data)))

    def _workload_of(self, model: type[M], data: msgspec.Raw | bytes | memoryview) -> M:
        text = self._workload.decode(data)
        template = None if text.spec is None else text.spec.template
        if text.spec is not None:
            text.spec.template = None
        found: Any = model.model_validate_json(self._encode(text))
        if template is not None:
            spec = found.spec.replace(template=self._pods.template(template))
            found = found.replace(spec=spec)
        workload: M = found
        return workload

    def _cron_job_of(self, model: type[M], data: msgspec.Raw | bytes | memoryview) -> M:
        """Like a Job, whose spec is one level deeper."""
        text = self._cron_job.decode(data)
        job = None if text.spec is None else text.spec.job_template
        spec = None if job is None else job.spec
        template = None if spec is None else spec.template
        if spec is not None:
            spec.template = None
        found: Any = model.model_validate_json(self._encode(text))
        if template is not None:
            made = found.spec.job_template
            made = made.replace(spec=made.spec.replace(template=self._pods.template(template)))
            found = found.replace(spec=found.spec.replace(job_template=made))
        cron_job: M = found
        return cron_job
