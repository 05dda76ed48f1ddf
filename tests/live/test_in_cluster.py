"""The API server as a pod reaches it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from planner.sources.errors import SourceError
from planner.sources.live.in_cluster import InCluster
from planner.sources.live.snapshot import read_snapshot
from tests.live.certificates import certificate, needs_openssl, server_side
from tests.live.clusters import many_pods
from tests.live.fake_api import FakeApi, Fault, Request

pytestmark = needs_openssl


@contextmanager
def mounted(api: FakeApi, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InCluster]:
    """A pod's service account for this server."""
    crt, key = certificate(folder)
    (folder / "namespace").write_text("planner-system")
    (folder / "token").write_text("first\n")
    with api.serve(server_side(crt, key)) as address:
        place = urlsplit(address)
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", str(place.hostname))
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(place.port))
        monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
        yield InCluster(10.0, folder)


def test_the_service_account_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    api = FakeApi(many_pods(7))
    api.tokens = {"first"}
    with mounted(api, tmp_path, monkeypatch) as way:
        found = read_snapshot(way)
    assert len(found.inventory.pods) == 7
    assert (way.namespace, found.source.context) == ("planner-system", None)


def test_a_token_that_is_renewed_meanwhile_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = FakeApi(many_pods(7))
    api.tokens = {"first"}

    def renewed(request: Request) -> Fault | None:
        if request.resource == "pods":
            (tmp_path / "token").write_text("second")
            api.tokens = {"second"}
        return None

    api.faults.append(renewed)
    with mounted(api, tmp_path, monkeypatch) as way:
        assert len(read_snapshot(way).inventory.pods) == 7


def test_a_token_that_is_refused_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = FakeApi(many_pods(7))
    api.tokens = {"other"}
    with mounted(api, tmp_path, monkeypatch) as way, pytest.raises(SourceError) as caught:
        read_snapshot(way)
    assert caught.value.message == "this cluster doesn't accept your login (401)"


def test_a_server_with_another_certificate_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = FakeApi(many_pods(7))
    (tmp_path / "other").mkdir()
    with mounted(api, tmp_path, monkeypatch):
        crt, _ = certificate(tmp_path / "other")
        (tmp_path / "ca.crt").write_bytes(crt.read_bytes())
        with pytest.raises(SourceError) as caught:
            read_snapshot(InCluster(10.0, tmp_path))
    assert caught.value.message == "can't reach this cluster"
    assert "certificate verify failed" in str(caught.value.detail)


def test_outside_of_a_cluster_there_is_no_service_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(SourceError) as caught:
        InCluster(10.0, tmp_path)
    assert caught.value.message == "this is no pod with a service account"
