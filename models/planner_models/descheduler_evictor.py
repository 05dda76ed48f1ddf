"""The arguments of the descheduler's DefaultEvictor, the guard of every strategy."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from planner_models.base import Bool, FieldError
from planner_models.component_config import ComponentConfig, GoDuration, Int32, NonNegative
from planner_models.selectors import LabelSelector

SYSTEM_CRITICAL_PRIORITY = 2_000_000_000

DefaultProtection = Literal[
    "PodsWithLocalStorage", "SystemCriticalPods", "FailedBarePods", "DaemonSetPods"
]
ExtraProtection = Literal["PodsWithPVC", "PodsWithoutPDB", "PodsWithResourceClaims"]
PodProtection = DefaultProtection | ExtraProtection

DEFAULT_PROTECTIONS: tuple[DefaultProtection, ...] = (
    "PodsWithLocalStorage",
    "SystemCriticalPods",
    "FailedBarePods",
    "DaemonSetPods",
)


class PriorityThreshold(ComponentConfig):
    """Pods at or above this priority stay: a value, or the name of a PriorityClass."""

    value: Int32 | None = None
    name: str = ""

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if self.value is not None and self.name:
            raise ValueError("value and name can't both be set")
        if self.value is not None and self.value > SYSTEM_CRITICAL_PRIORITY:
            raise FieldError("value", f"value is {self.value}; it must not exceed 2000000000")
        return self


class ProtectedStorageClass(ComponentConfig):
    """A storage class whose pods stay."""

    name: Annotated[str, Field(min_length=1)]


class PodsWithPVCConfig(ComponentConfig):
    """Which claims protect their pods; without a list, all do."""

    protected_storage_classes: tuple[ProtectedStorageClass, ...] = ()


class PodProtectionsConfig(ComponentConfig):
    """Details of the protections; the fields are spelled like them."""

    pods_with_pvc: PodsWithPVCConfig | None = Field(default=None, alias="PodsWithPVC")


class PodProtections(ComponentConfig):
    """Which default protections are off and which extra ones are on."""

    extra_enabled: tuple[ExtraProtection, ...] = ()
    default_disabled: tuple[DefaultProtection, ...] = ()
    config: PodProtectionsConfig | None = None

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if len(set(self.extra_enabled)) < len(self.extra_enabled):
            raise FieldError("extraEnabled", "extraEnabled lists a protection twice")
        if len(set(self.default_disabled)) < len(self.default_disabled):
            raise FieldError("defaultDisabled", "defaultDisabled lists a protection twice")
        return self

    @property
    def given(self) -> bool:
        """Whether the lists say anything; if so they replace the old boolean fields."""
        return bool(self.extra_enabled or self.default_disabled)


def _preferred_if_empty(policy: Any) -> Any:
    return policy or "Preferred"


class DefaultEvictorArgs(ComponentConfig):
    """Who may be evicted. Without arguments: bare, static, critical and local-storage pods stay."""

    api_version: str | None = None
    kind: str | None = None
    node_selector: str = ""
    label_selector: LabelSelector | None = None
    namespace_label_selector: LabelSelector | None = None
    priority_threshold: PriorityThreshold | None = None
    node_fit: Bool = False
    min_replicas: NonNegative = 0
    min_pod_age: GoDuration | None = None
    no_eviction_policy: Annotated[
        Literal["Preferred", "Mandatory"], BeforeValidator(_preferred_if_empty)
    ] = "Preferred"
    pod_protections: PodProtections = PodProtections.defaults()
    evict_local_storage_pods: Bool = False
    evict_daemon_set_pods: Bool = False
    evict_system_critical_pods: Bool = False
    ignore_pvc_pods: Bool = False
    ignore_pods_without_pdb: Bool = Field(default=False, alias="ignorePodsWithoutPDB")
    evict_failed_bare_pods: Bool = False

    @model_validator(mode="after")
    def _old_or_new_fields(self) -> Self:
        deprecated = (
            self.evict_local_storage_pods
            or self.evict_daemon_set_pods
            or self.evict_system_critical_pods
            or self.ignore_pvc_pods
            or self.ignore_pods_without_pdb
            or self.evict_failed_bare_pods
        )
        if deprecated and self.pod_protections.given:
            raise FieldError(
                "podProtections",
                "podProtections and the deprecated evict... and ignore... fields can't both be set",
            )
        return self

    @property
    def protections(self) -> frozenset[PodProtection]:
        """The protections in force, whichever way they were written."""
        new = self.pod_protections
        if new.given:
            return frozenset(DEFAULT_PROTECTIONS) - set(new.default_disabled) | set(
                new.extra_enabled
            )
        old: dict[PodProtection, bool] = {
            "PodsWithLocalStorage": not self.evict_local_storage_pods,
            "DaemonSetPods": not self.evict_daemon_set_pods,
            "SystemCriticalPods": not self.evict_system_critical_pods,
            "FailedBarePods": not self.evict_failed_bare_pods,
            "PodsWithPVC": self.ignore_pvc_pods,
            "PodsWithoutPDB": self.ignore_pods_without_pdb,
        }
        return frozenset(protection for protection, active in old.items() if active)
