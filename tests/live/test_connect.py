"""Which way to a cluster is taken, and what options have to say about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner import Live, UsageError
from planner.sources.live import connect as connecting
from planner.sources.live.connect import Wanted, connect


class Way:
    """Stands for a way, and remembers what it was made with."""

    def __init__(self, *given: object) -> None:
        self.given = given


class Kubectl(Way):
    pass


class Account(Way):
    pass


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without a kubeconfig, in a pod."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setattr(connecting, "mounted", lambda: True)
    monkeypatch.setattr(connecting, "KubectlProxy", Kubectl)
    monkeypatch.setattr(connecting, "InCluster", Account)
    return tmp_path


def test_a_pod_without_a_kubeconfig_uses_its_service_account(home: Path) -> None:
    assert isinstance(connect(Wanted()), Account)


def test_a_kubeconfig_at_home_counts(home: Path) -> None:
    (home / ".kube").mkdir()
    (home / ".kube" / "config").write_text("")
    assert isinstance(connect(Wanted()), Kubectl)
    assert isinstance(connect(Wanted(in_cluster=True)), Account)


def test_a_kubeconfig_of_the_environment_counts(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/some/config")
    assert isinstance(connect(Wanted()), Kubectl)


def test_options_are_handed_to_kubectl(home: Path) -> None:
    wanted = Live("prod-eu", "/k", as_user="alice", as_groups=("dev", "ops")).wanted()
    way = connect(wanted)
    assert isinstance(way, Kubectl)
    assert way.given[0] == (
        "--kubeconfig=/k",
        "--context=prod-eu",
        "--as=alice",
        "--as-group=dev",
        "--as-group=ops",
    )


@pytest.mark.parametrize(
    ("given", "seconds"),
    [(None, 60.0), ("5m", 300.0), ("1.5s", 1.5), ("30", 30.0), (10, 10.0), ("0", None)],
)
def test_timeouts_are_those_of_kubectl(given: str | float | None, seconds: float | None) -> None:
    assert Live(request_timeout=given).wanted().timeout == seconds


@pytest.mark.parametrize("given", ["soon", "-1s", "", "1 h"])
def test_what_is_no_time_is_refused(given: str) -> None:
    with pytest.raises(UsageError):
        Live(request_timeout=given).wanted()


def test_a_service_account_is_nobody_else() -> None:
    with pytest.raises(UsageError) as caught:
        Live(context="prod-eu", in_cluster=True).wanted()
    assert caught.value.message == "`in_cluster` reads with the service account of this pod"
