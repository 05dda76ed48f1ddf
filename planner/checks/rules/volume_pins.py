"""`volume-pins`: a StorageClass that binds a claim before its pod has a node.

With volumeBindingMode Immediate the volume may end up in a zone where the pod's rules don't let it
run; it then waits for ever.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks.finding import READ, Finding
from planner.checks.rule import per_workload
from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload
from planner_models.volume import StorageClass

ID = "volume-pins"


@per_workload
def find(subject: Subject, workload: CheckedWorkload) -> Iterator[Finding]:
    spec = subject.spec(workload)
    ruled = spec.topology_spread_constraints or spec.affinity.pod_anti_affinity.required
    if not ruled:
        return
    seen: set[str] = set()
    for index, storage in _classes(subject, workload):
        if storage.volume_binding_mode == "Immediate" and storage.name not in seen:
            seen.add(storage.name)
            where = (
                "spec.volumeClaimTemplates"
                if index is None
                else workload.field(f"volumes[{index}]")
            )
            yield Finding(
                rule=ID,
                severity="warning",
                objects=(workload.object,),
                field=where,
                title=f"the volumes of {workload.name} are bound before its pods have a node",
                text=(
                    f"StorageClass {storage.name} has volumeBindingMode Immediate: a volume may "
                    "lie in a zone where spread or anti-affinity keeps its pod out.",
                    "WaitForFirstConsumer binds it where kube-scheduler puts the pod.",
                ),
                proof=READ,
            )


def _classes(
    subject: Subject, workload: CheckedWorkload
) -> Iterator[tuple[int | None, StorageClass]]:
    """The StorageClasses of claims that are not bound yet; None for a claim template."""
    if not subject.sample(workload).volumes:
        return
    classes = {each.name: each for each in subject.inventory.storage_classes}
    claims = {each.key: each for each in subject.inventory.claims}
    for index, volume in enumerate(subject.sample(workload).volumes):
        source = volume.persistent_volume_claim
        claim = claims.get(f"{workload.ref.namespace}/{source.claim_name}") if source else None
        if claim is not None and not claim.spec.volume_name:
            found = classes.get(claim.spec.storage_class_name or "")
            if found is not None:
                yield index, found
    for each in subject.inventory.stateful_sets:
        if (each.namespace, each.name) == (workload.ref.namespace, workload.ref.name):
            for template in each.spec.volume_claim_templates:
                found = classes.get(template.spec.storage_class_name or "")
                if workload.ref.kind == "StatefulSet" and found is not None:
                    yield None, found
