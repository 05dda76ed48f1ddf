"""Storage objects and the volumes of a pod that scheduling looks at."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from planner_models.base import Bool, Int, KubeModel
from planner_models.meta import KubeObject, ObjectMeta
from planner_models.quantity import Quantity, ResourceList
from planner_models.selectors import LabelSelector, NodeSelector

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
BETA_STORAGE_CLASS = "volume.beta.kubernetes.io/storage-class"
DEFAULT_CLASS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)

AccessMode = Literal["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"]
VolumeMode = Literal["Filesystem", "Block"]


class VolumeResources(KubeModel):
    """`spec.resources` of a claim."""

    requests: ResourceList = Field(default_factory=dict)


class PersistentVolumeClaimSpec(KubeModel):
    """What a claim asks for, and the volume it is bound to."""

    access_modes: tuple[AccessMode, ...] = ()
    selector: LabelSelector | None = None
    resources: VolumeResources = VolumeResources.defaults()
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: VolumeMode = "Filesystem"


class PersistentVolumeClaimStatus(KubeModel):
    """The phase of a claim; a `Lost` claim keeps its pods from being scheduled."""

    phase: str = "Pending"


class PersistentVolumeClaim(KubeObject):
    """A claim of a pod on storage."""

    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec.defaults()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus.defaults()

    @property
    def storage_class(self) -> str | None:
        """The class: the beta annotation wins over the field, as in the volume helpers."""
        return self.metadata.annotations.get(BETA_STORAGE_CLASS, self.spec.storage_class_name)

    @property
    def fully_bound(self) -> bool:
        """Bound for the scheduler: a volume is named and the binding was completed."""
        return bool(self.spec.volume_name) and BIND_COMPLETED in self.metadata.annotations


class VolumeNodeAffinity(KubeModel):
    """Which nodes can reach a persistent volume."""

    required: NodeSelector | None = None


class ObjectReference(KubeModel):
    """A reference to a claim."""

    namespace: str = ""
    name: str = ""
    uid: str = ""


class CSISource(KubeModel):
    """A volume served by a CSI driver."""

    driver: str
    volume_handle: str = ""


class PersistentVolumeSpec(KubeModel):
    """A piece of storage: its size, class, reach and who has it."""

    capacity: ResourceList = Field(default_factory=dict)
    access_modes: tuple[AccessMode, ...] = ()
    claim_ref: ObjectReference | None = None
    storage_class_name: str = ""
    volume_mode: VolumeMode = "Filesystem"
    node_affinity: VolumeNodeAffinity = VolumeNodeAffinity.defaults()
    csi: CSISource | None = None


class PersistentVolumeStatus(KubeModel):
    """The phase of a volume: only `Available` ones can be bound."""

    phase: str = "Pending"


class PersistentVolume(KubeObject):
    """A piece of storage in the cluster."""

    spec: PersistentVolumeSpec = PersistentVolumeSpec.defaults()
    status: PersistentVolumeStatus = PersistentVolumeStatus.defaults()

    @property
    def storage_class(self) -> str:
        """The class: the beta annotation wins over the field."""
        return self.metadata.annotations.get(BETA_STORAGE_CLASS, self.spec.storage_class_name)


class TopologySelectorRequirement(KubeModel):
    """`key In values` over node labels, for `allowedTopologies`."""

    key: str
    values: tuple[str, ...] = ()


class TopologySelectorTerm(KubeModel):
    """All requirements of one allowed topology."""

    match_label_expressions: tuple[TopologySelectorRequirement, ...] = ()


class StorageClass(KubeObject):
    """How volumes of a class are made and when they are bound."""

    provisioner: str = ""
    volume_binding_mode: Literal["Immediate", "WaitForFirstConsumer"] = "Immediate"
    allowed_topologies: tuple[TopologySelectorTerm, ...] = ()

    @property
    def default(self) -> bool:
        """Whether claims that name no class get this one."""
        return any(self.metadata.annotations.get(key) == "true" for key in DEFAULT_CLASS)


class VolumeNodeResources(KubeModel):
    """How many volumes of a driver can be attached to a node; absent means no limit."""

    count: Int | None = None


class CSINodeDriver(KubeModel):
    """One driver installed on a node."""

    name: str
    topology_keys: tuple[str, ...] = ()
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(KubeModel):
    """The drivers of a node."""

    drivers: tuple[CSINodeDriver, ...] = ()


class CSINode(KubeObject):
    """The CSI drivers of the node of the same name."""

    spec: CSINodeSpec = CSINodeSpec.defaults()


class CSIDriverSpec(KubeModel):
    """Whether the driver publishes how much storage is left where."""

    storage_capacity: Bool = False


class CSIDriver(KubeObject):
    """A CSI driver of the cluster."""

    spec: CSIDriverSpec = CSIDriverSpec.defaults()


class CSIStorageCapacity(KubeObject):
    """Storage left for a class in a part of the cluster.

    An absent `nodeTopology` reaches no node, an empty one every node.
    """

    node_topology: LabelSelector | None = None
    storage_class_name: str
    capacity: Quantity | None = None
    maximum_volume_size: Quantity | None = None


class VolumeAttachmentSource(KubeModel):
    """The attached volume."""

    persistent_volume_name: str = ""


class VolumeAttachmentSpec(KubeModel):
    """Which driver attached what to which node."""

    attacher: str = ""
    node_name: str = ""
    source: VolumeAttachmentSource = VolumeAttachmentSource.defaults()


class VolumeAttachmentStatus(KubeModel):
    """Whether the attachment is done."""

    attached: Bool = False


class VolumeAttachment(KubeObject):
    """A volume attached to a node, whether a pod uses it or not."""

    spec: VolumeAttachmentSpec = VolumeAttachmentSpec.defaults()
    status: VolumeAttachmentStatus = VolumeAttachmentStatus.defaults()


class ClaimSource(KubeModel):
    """`persistentVolumeClaim` of a pod volume."""

    claim_name: str
    read_only: Bool = False


class ClaimTemplate(KubeModel):
    """`volumeClaimTemplate`: a StatefulSet's, or that of a generic ephemeral volume."""

    metadata: ObjectMeta = ObjectMeta.defaults()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec.defaults()


class EphemeralSource(KubeModel):
    """A generic ephemeral volume; its claim is named `<pod>-<volume>`."""

    volume_claim_template: ClaimTemplate = ClaimTemplate.defaults()


class GCEDisk(KubeModel):
    """A disk that several pods share read-only at the most."""

    pd_name: str
    read_only: Bool = False


class AWSDisk(KubeModel):
    """A disk that only one pod of a node may use."""

    volume_id: str = Field(alias="volumeID")


class ISCSIDisk(KubeModel):
    """A disk that several pods share read-only at the most."""

    iqn: str
    read_only: Bool = False


class RBDImage(KubeModel):
    """An image that several pods share read-only at the most, by monitors, pool and image."""

    monitors: tuple[str, ...] = ()
    image: str = ""
    pool: str = "rbd"
    read_only: Bool = False


class Volume(KubeModel):
    """A volume of a pod; sources that scheduling ignores leave all fields empty."""

    name: str
    persistent_volume_claim: ClaimSource | None = None
    ephemeral: EphemeralSource | None = None
    gce_persistent_disk: GCEDisk | None = None
    aws_elastic_block_store: AWSDisk | None = None
    iscsi: ISCSIDisk | None = None
    rbd: RBDImage | None = None
    empty_dir: dict[str, object] | None = None
    host_path: dict[str, object] | None = None

    @property
    def local(self) -> bool:
        """Storage that is lost when the pod leaves its node."""
        return self.empty_dir is not None or self.host_path is not None
