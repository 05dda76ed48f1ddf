"""The real kubectl between planner and the fake server."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import planner
from planner.apply.access import eviction_path, node_path, writing
from planner.apply.writing import Writer
from planner.sources.errors import SourceError
from planner.sources.live.connect import Wanted, connect
from planner.sources.live.kubectl_proxy import KubectlProxy
from tests.live.certificates import certificate, needs_openssl, server_side
from tests.live.clusters import example_objects, many_pods
from tests.live.fake_api import FakeApi, Fault, Request, always
from tests.live.kubeconfigs import kubeconfig, needs_kubectl

pytestmark = needs_kubectl
ROOT = Path(__file__).parents[2]

HOLD = """
import sys, time
from planner.sources.live.connect import Wanted, connect
api = connect(Wanted(kubeconfig=sys.argv[1]))
api.ready()
print(api._socket, flush=True)
time.sleep(60)
"""

PLUGIN = """#!/bin/sh
echo called >> {calls}
echo "visit https://example.com and enter ABCD" >&2
cat <<'EOF'
{{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
 "status": {{"token": "secret"}}}}
EOF
"""


@pytest.fixture
def api() -> FakeApi:
    return FakeApi(example_objects())


@pytest.fixture
def config(api: FakeApi, tmp_path: Path) -> Iterator[str]:
    with api.serve() as address:
        yield kubeconfig(tmp_path, address)


@pytest.fixture
def proxy(config: str) -> Iterator[KubectlProxy]:
    way = connect(Wanted(kubeconfig=config))
    assert isinstance(way, KubectlProxy)
    with closing(way):
        way.ready()
        yield way


def ask(proxy: KubectlProxy, method: str, path: str) -> int:
    """The path as it stands: no client tidies it up."""
    with closing(proxy.connection()) as connection:
        connection.putrequest(method, path, skip_accept_encoding=True)
        connection.endheaders()
        return connection.getresponse().status


def test_a_cluster_is_read_through_kubectl(config: str) -> None:
    cluster = planner.load(live=planner.Live(kubeconfig=config))
    assert repr(cluster) == "<Cluster: 12 nodes, 51 pods, 0 pending>"
    assert cluster.namespace == "shop"
    assert cluster.source is not None
    assert cluster.source.context == "prod-eu"


def test_nobody_else_can_reach_the_socket(proxy: KubectlProxy) -> None:
    place = Path(proxy._socket)
    modes = [stat.S_IMODE(each.stat().st_mode) for each in (place, place.parent)]
    assert modes == [0o700, 0o700]


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/secrets",
        "/api/v1//secrets",
        "/api/v1/./secrets",
        "/api/v1/pods/../secrets",
        "/API/V1/secrets",
        "/api/v1/SECRETS",
        "/api/v1%2fsecrets",
        "/api/v1/pods%2f..%2fsecrets",
        "/api/v1/namespaces/default/secrets",
        "/api/v1/namespaces/default/pods/web/exec",
        "/api/v1/pods%0a/../secrets",
        "/apis/apps/v1/../../../api/v1/secrets",
        "//api/v1/secrets",
        "/api/v1/configmaps",
        "/",
    ],
)
def test_nothing_but_the_lists_is_reached(proxy: KubectlProxy, api: FakeApi, path: str) -> None:
    """The proxy tidies some paths up by a redirect, which it then refuses."""
    before = len(api.requests)
    assert ask(proxy, "GET", path) in (301, 307, 400, 403)
    assert [each.path for each in api.requests[before:]] == []


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_nothing_can_be_written(proxy: KubectlProxy, api: FakeApi, method: str) -> None:
    assert ask(proxy, method, "/api/v1/pods") == 403
    assert {request.method for request in api.requests} <= {"GET"}


@pytest.fixture
def writer(config: str) -> Iterator[KubectlProxy]:
    """The way of `planner apply`."""
    way = connect(Wanted(kubeconfig=config), writing("kube-system", "planner"))
    assert isinstance(way, KubectlProxy)
    with closing(way):
        way.ready()
        yield way


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("DELETE", "/api/v1/nodes/a1"),
        ("PUT", "/api/v1/nodes/a1"),
        ("PATCH", "/api/v1/namespaces/shop/pods/web-1"),
        ("POST", "/api/v1/namespaces/shop/pods"),
        ("POST", "/api/v1/namespaces/shop/pods/web-1/binding"),
        ("POST", "/api/v1/namespaces/shop/pods/web-1/exec"),
        ("PATCH", "/apis/apps/v1/namespaces/shop/deployments/web"),
        ("PATCH", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/other"),
        ("PATCH", "/apis/coordination.k8s.io/v1/namespaces/shop/leases/planner"),
        ("PATCH", "/api/v1/nodes/.."),
        ("GET", "/api/v1/nodes/../secrets"),
        ("GET", "/api/v1/namespaces/shop/secrets"),
        ("PATCH", "/api/v1/nodes/a1/status"),
    ],
)
def test_carrying_plans_out_reaches_nothing_else(
    writer: KubectlProxy, api: FakeApi, method: str, path: str
) -> None:
    before = len(api.requests)
    assert ask(writer, method, path) in (301, 307, 403)
    assert [each.path for each in api.requests[before:]] == []


def test_carrying_plans_out_reaches_the_eviction_api_and_nodes(
    writer: KubectlProxy, api: FakeApi
) -> None:
    asked = Writer(writer)
    pod = next(each for each in api.all_of("pods") if each["spec"].get("nodeName"))
    meta = pod["metadata"]
    asked.post(eviction_path(meta["namespace"], meta["name"]), {}, dry_run=True)
    asked.patch(node_path("a1"), {"spec": {"unschedulable": True}})
    node = api.found("nodes", "/a1")
    assert node is not None
    assert node["spec"]["unschedulable"] is True
    asked.close()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_kubectl_ends_with_planner_however_that_ends(config: str, number: signal.Signals) -> None:
    """Ctrl-C, and a terminal that is closed, tell all processes; the others planner alone."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, config],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
        start_new_session=True,
    ) as holder:
        assert holder.stdout is not None
        place = holder.stdout.readline().strip()
        assert running(place)
        if number in (signal.SIGINT, signal.SIGHUP):
            os.killpg(holder.pid, number)
        else:
            holder.send_signal(number)
    for _ in range(100):
        if not running(place) and not Path(place).parent.exists():
            break
        time.sleep(0.1)
    assert running(place) == []
    assert not Path(place).parent.exists()


def running(text: str) -> list[str]:
    """Processes with the text in their command line."""
    if Path("/proc/self/cmdline").exists():
        lines = [_command_line(each) for each in Path("/proc").glob("[0-9]*/cmdline")]
    else:
        ps = ["ps", "-Aww", "-o", "args"]
        lines = subprocess.run(ps, capture_output=True, text=True, check=True).stdout.splitlines()
    return [line for line in lines if text in line]


def _command_line(file: Path) -> str:
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""


def test_closing_ends_kubectl_and_leaves_nothing(config: str) -> None:
    way = connect(Wanted(kubeconfig=config))
    assert isinstance(way, KubectlProxy)
    way.ready()
    way.close()
    assert running(way._socket) == []
    assert not Path(way._socket).parent.exists()


def login_by(plugin: Path) -> dict[str, str]:
    """What a kubeconfig says of a plugin."""
    version = "client.authentication.k8s.io/v1"
    return {"apiVersion": version, "command": str(plugin), "interactiveMode": "Never"}


@needs_openssl
def test_a_login_plugin_is_called_once_for_all_requests(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """And what it tells the user is seen; a device code is of no use in a log."""
    calls, plugin = tmp_path / "calls", tmp_path / "plugin"
    plugin.write_text(PLUGIN.format(calls=calls))
    plugin.chmod(0o755)
    api = FakeApi(many_pods(40))
    api.tokens = {"secret"}
    crt, key = certificate(tmp_path)
    with api.serve(server_side(crt, key)) as address:
        config = kubeconfig(tmp_path, address, {"exec": login_by(plugin)}, crt)
        planner.load(live=planner.Live(kubeconfig=config))
    assert len(api.requests) > 20
    # Some kubectls are a launcher that asks the server for its version first, with its own login.
    assert calls.read_text().count("called") <= 2
    assert "enter ABCD" in capfd.readouterr().err


@needs_openssl
def test_a_token_that_expires_in_the_middle_is_fetched_anew(tmp_path: Path) -> None:
    """The server says 401 once; kubectl calls the plugin again, and planner asks again."""
    token, plugin = tmp_path / "token", tmp_path / "plugin"
    token.write_text("first")
    plugin.write_text(
        PLUGIN.format(calls="/dev/null")
        .replace('"secret"', f'"$(cat {token})"')
        .replace("<<'EOF'", "<<EOF")
    )
    plugin.chmod(0o755)
    api = FakeApi(many_pods(40))
    api.tokens = {"first"}

    def expired(request: Request) -> Fault | None:
        if request.resource == "pods":
            token.write_text("second")
            api.tokens = {"second"}
        return None

    api.faults.append(expired)
    crt, key = certificate(tmp_path)
    with api.serve(server_side(crt, key)) as address:
        config = kubeconfig(tmp_path, address, {"exec": login_by(plugin)}, crt)
        assert len(planner.load(live=planner.Live(kubeconfig=config)).pods) == 40


def error(live: planner.Live) -> str:
    with pytest.raises(SourceError) as caught:
        planner.load(live=live)
    return caught.value.render()


def test_a_context_that_does_not_exist_is_told_with_those_that_do(config: str) -> None:
    assert error(planner.Live(kubeconfig=config, context="prod")) == (
        'error: kubectl: context "prod" does not exist\nhelp: contexts are: prod-eu, staging'
    )


def test_a_kubeconfig_that_is_not_there_is_told_in_the_words_of_kubectl(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    told = error(planner.Live(kubeconfig=str(missing)))
    assert told.startswith(f"error: kubectl: stat {missing}: no such file or directory")


def test_without_a_current_context_there_is_no_cluster(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.write_text('{"apiVersion": "v1", "kind": "Config"}')
    assert error(planner.Live(kubeconfig=str(empty))).startswith(
        "error: kubectl has no current context, so there is no cluster to read"
    )


def test_a_server_that_is_not_there_is_told_with_its_address(tmp_path: Path) -> None:
    config = kubeconfig(tmp_path, "http://127.0.0.1:1")
    assert error(planner.Live(kubeconfig=config)) == (
        "error: can't reach the cluster of context prod-eu\n"
        "  --> dial tcp 127.0.0.1:1: connect: connection refused"
    )


def test_a_login_that_is_refused_is_told_with_what_to_try(api: FakeApi, config: str) -> None:
    api.tokens = {"other"}
    assert error(planner.Live(kubeconfig=config)) == (
        "error: the cluster of context prod-eu doesn't accept your login (401)\n"
        "help: kubectl get --raw /version --context prod-eu shows whether kubectl can log in"
    )


def test_without_kubectl_planner_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANNER_KUBECTL", "no-such-kubectl")
    assert error(planner.Live(context="prod-eu")) == (
        "error: kubectl is not there, and planner reads clusters through it\n"
        'help: install kubectl, or PLANNER_KUBECTL="k3s kubectl", or -f cluster.json'
    )


def test_another_kubectl_can_be_named(
    config: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapper = tmp_path / "k3s"
    wrapper.write_text('#!/bin/sh\nshift\nexec kubectl "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PLANNER_KUBECTL", f"{wrapper} kubectl")
    assert len(planner.load(live=planner.Live(kubeconfig=config)).nodes) == 12


def test_a_timeout_is_told_as_a_server_that_is_not_reached(api: FakeApi, config: str) -> None:
    api.faults.append(always("version", Fault(delay=1.0)))
    told = error(planner.Live(kubeconfig=config, request_timeout="200ms"))
    assert told.endswith("--> no answer in time")
