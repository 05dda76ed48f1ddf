"""Text is never read beyond a limit, and what is no object is named as what it seems to be."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from planner.sources import dump, dump_reader, input_text
from planner.sources.errors import SourceError
from planner.sources.input_text import KUBECTL
from planner.sources.kinds import FLEET, KINDS, UNNAMED
from planner.sources.load import load_paths
from planner.sources.options import MAX_INPUT, ReadOptions
from tests.sources.test_dump_reader import written as written_dump

KUBECTL_NAMES = {
    "Pod": "pods",
    "Node": "nodes",
    "Deployment": "deploy",
    "ReplicaSet": "rs",
    "StatefulSet": "sts",
    "DaemonSet": "ds",
    "Job": "jobs",
    "ReplicationController": "rc",
    "Service": "svc",
    "Namespace": "ns",
    "PriorityClass": "pc",
    "LimitRange": "limits",
    "PodDisruptionBudget": "pdb",
    "PersistentVolume": "pv",
    "PersistentVolumeClaim": "pvc",
    "CronJob": "cronjobs",
    "ResourceQuota": "quota",
    "HorizontalPodAutoscaler": "hpa",
    "StorageClass": "sc",
    "CSINode": "csinodes",
    "CSIDriver": "csidrivers",
    "CSIStorageCapacity": "csistoragecapacities",
    "VolumeAttachment": "volumeattachments",
}


def refusal(path: Path, limit: int = MAX_INPUT) -> SourceError:
    with pytest.raises(SourceError) as caught:
        load_paths([str(path)], options=ReadOptions(max_input=limit))
    return caught.value


def test_the_largest_clusters_are_far_below_the_limit() -> None:
    assert MAX_INPUT > 1.5 * 10e9


def test_the_kubectl_line_asks_for_every_kind_of_a_cluster() -> None:
    kinds = {"Pod", *(kind for _, kind in KINDS)} - FLEET - UNNAMED
    assert set(KUBECTL.split()[2].split(",")) == {KUBECTL_NAMES[kind] for kind in kinds}


def test_a_file_above_the_limit_is_one_clear_line(tmp_path: Path) -> None:
    file = tmp_path / "big.json"
    file.write_text("{" + " " * 2048)
    assert refusal(file, 1024).render() == (
        f"error: {file} holds more than 1Ki of text\n"
        "help: --max-input SIZE, such as 32Gi, lets planner read more"
    )


def test_a_gzip_bomb_stops_at_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "bomb.json.gz"
    file.write_bytes(gzip.compress(b" " * (64 << 20)))
    assert refusal(file, 1 << 20).message == f"{file} holds more than 1Mi of text"


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no /dev/zero")
def test_a_file_that_never_ends_is_known_as_binary_at_its_start() -> None:
    assert refusal(Path("/dev/zero")).message == (
        "can't read /dev/zero: it is a binary file, neither JSON nor YAML"
    )


def test_zeros_in_gzip_are_known_at_their_start(tmp_path: Path) -> None:
    file = tmp_path / "zeros.gz"
    file.write_bytes(gzip.compress(bytes(1 << 20)))
    assert "binary file" in refusal(file).message


def test_stdin_has_the_limit_too() -> None:
    with pytest.raises(SourceError, match="<stdin> holds more than 1Ki of text"):
        load_paths(["-"], io.BytesIO(b"{" + b" " * 2048), ReadOptions(max_input=1024))


def test_text_that_must_be_held_may_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(input_text, "_half_of_memory", lambda: 2048)
    file = tmp_path / "a.yaml"
    file.write_text("#" * 4096)
    assert refusal(file).message.endswith("half of this machine's memory")


def test_a_big_dump_in_pieces_has_the_limit_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = Path(written_dump(tmp_path / "dump.json"))
    monkeypatch.setattr(dump, "SMALLEST", 1)
    monkeypatch.setattr(dump_reader, "FROM", 1 << 60)
    assert "holds more than 1Ki of text" in refusal(file, 1024).message


def test_a_second_process_reports_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = Path(written_dump(tmp_path / "dump.json"))
    monkeypatch.setattr(dump_reader, "FROM", 1)
    monkeypatch.setattr(dump_reader, "_cores", lambda: 2)
    assert "holds more than 1Ki of text" in refusal(file, 1024).message


@pytest.mark.parametrize(
    "text",
    [
        "NAME   STATUS   ROLES   AGE\nn1     Ready    <none>  1d\n",
        "NAMESPACE     NAME    READY   STATUS\ndefault       web-1   1/1     Running\n",
        "\nNAME          READY\npod/web       1/1\n",
    ],
)
def test_a_table_of_kubectl_is_known(tmp_path: Path, text: str) -> None:
    file = tmp_path / "pods.txt"
    file.write_text(text)
    error = refusal(file)
    assert error.message == (
        f"{file} is kubectl's table, which leaves out most of what planner reads; use -o json"
    )
    assert str(error.help).startswith(f"{KUBECTL} json > ")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("{{- if .Values.x }}\nkind: Pod\n{{- end }}\n", (1, 1)),
        ("kind: Pod\nmetadata:\n  name: {{ .Release.Name }}\n", (3, 9)),
        ('kind: Pod\nmetadata:\n  {{- include "labels" . | nindent 4 }}\n  name: x\n', (3, 3)),
        ("kind: Pod\n{{/* a comment */}}\n", (2, 1)),
        ("kind: Pod\nspec:\n{{ toYaml .Values.spec | indent 2 }}\n", (3, 1)),
    ],
)
def test_a_helm_template_is_known_where_a_parser_stumbles(
    tmp_path: Path, text: str, place: tuple[int, int]
) -> None:
    file = tmp_path / "deployment.yaml"
    file.write_text(text)
    error = refusal(file)
    assert error.message == f"{file} is a Helm template, which has to be rendered first"
    assert (error.line, error.column) == place
    assert error.help == "helm template NAME CHART | planner ... -f -"


def test_a_template_inside_a_text_is_not_blamed_for_another_mistake(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("data:\n  alert: '{{ $labels.pod }} is down'\n  a: b\n  c: d\n\tx: 1\n")
    assert refusal(file).message == f"{file} is not valid YAML"
