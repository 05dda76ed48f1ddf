"""`generateName` without a name: the API server completes it, and so does planner."""

from __future__ import annotations

import re
from pathlib import Path

from planner.sources.load import load_paths
from planner.sources.locations import Location, Locations, ObjectName
from tests.objects import Json, inventory_of, manifest, merged, workload

NAME = re.compile(r"sample-job-[bcdfghjklmnpqrstvwxz2456789]{5}")


def job(prefix: str = "sample-job-") -> Json:
    made = workload("Job", "x", {"parallelism": 2, "completions": 2})
    del made["metadata"]["name"]
    return merged(made, {"metadata": {"generateName": prefix}})


def test_the_name_is_completed_as_by_the_api_server_and_noted() -> None:
    found = inventory_of(job())
    name = found.jobs[0].name
    assert NAME.fullmatch(name)
    assert {pod.owner.name for pod in found.pods if pod.owner} == {name}
    notice = next(each for each in found.notices if each.code == "generatedName")
    assert notice.objects == (f"Job default/{name}",)


def test_every_object_gets_a_name_of_its_own_and_always_the_same() -> None:
    names = [each.name for each in inventory_of(job(), job(), job("other-")).jobs]
    assert len(set(names)) == 3
    assert names == [each.name for each in inventory_of(job(), job(), job("other-")).jobs]


def test_a_long_prefix_is_cut_to_fit_a_dns_label() -> None:
    name = inventory_of(job("a" * 70)).jobs[0].name
    assert name[:58] == "a" * 58
    assert len(name) == 63


def test_a_pod_may_be_named_so_too() -> None:
    nameless = manifest("x", metadata={"generateName": "once-"})
    del nameless["metadata"]["name"]
    assert inventory_of(nameless).pods[0].name.startswith("once-")


def test_its_fields_are_found_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "jobs.yaml"
    text = (
        "apiVersion: batch/v1\nkind: Job\nmetadata:\n  generateName: sample-job-\n"
        "spec:\n  template:\n    spec:\n      containers:\n      - name: c\n"
    )
    file.write_text(f"{text}---\n{text}")
    second = load_paths([str(file)]).jobs[1].name
    place = Locations([str(file)]).find([(ObjectName("Job", "default", second), "spec.template")])
    assert place == Location(file.as_posix(), 16, 3)
