"""A kubectl for tests of scripts: a cluster in a JSON file, with controllers and budgets.

It answers exactly the calls that our scripts make, in the form that kubectl prints for their
templates, and takes notes of each. Evictions follow the Eviction API: the budget is asked, the uid
compared, and a replacement appears on the node that the test names, ready after some looks; if it
waits for room (`after`), when the pod that holds that has been evicted. `mostDown` remembers how
many pods of a controller were down together.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

State = dict[str, Any]


def main(folder: Path, words: list[str]) -> int:
    state: State = json.loads((folder / "state.json").read_text())
    body = sys.stdin.read() if words[0] == "create" else ""
    with (folder / "calls").open("a") as calls:
        calls.write(json.dumps([*words, body] if body else words) + "\n")
    code = _answer(state, words, body)
    (folder / "state.json").write_text(json.dumps(state))
    return code


def _answer(state: State, words: list[str], body: str) -> int:
    kinds = {("create", "--raw"): _evict, ("get", "pod"): _uid, ("get", "pods"): _pods}
    kinds |= {("get", "node"): _node, ("get", "nodes"): _nodes, ("patch", "node"): _patch}
    if words[0] == "cordon":
        state["nodes"][words[-1]]["cordoned"] = True
        return 0
    return kinds[words[0], words[1]](state, words, body)


def _fail(text: str) -> int:
    print(f"Error from server {text}", file=sys.stderr)  # noqa: T201 - as kubectl does
    return 1


def _evict(state: State, _words: list[str], body: str) -> int:
    eviction = json.loads(body)
    name, options = eviction["metadata"]["name"], eviction.get("deleteOptions", {})
    pod = state["pods"].get(name)
    if name in state.get("forbidden", ()):
        return _fail("(Forbidden): pods is forbidden")
    if pod is None:
        return _fail(f'(NotFound): pods "{name}" not found')
    if state.get("refusals", {}).get(name, 0):
        state["refusals"][name] -= 1
        return _fail("(TooManyRequests): Cannot evict pod as it would violate the budget.")
    if options.get("preconditions", {}).get("uid", pod["uid"]) != pod["uid"]:
        return _fail("(Conflict): the UID in the precondition does not match")
    if "dryRun" in options:
        return 0
    del state["pods"][name]
    state["evicted"].append(name)
    if pod["controller"]:
        number = len(state["evicted"])
        fresh = {"uid": f"new-{number}", "controller": pod["controller"], "of": name}
        state["pods"][f"new-{number}"] = {**fresh, "node": "", "ready": None}
    for each in state["pods"].values():
        _land(state, each)
    mates = [each for each in state["pods"].values() if each["controller"] == pod["controller"]]
    down = sum(each["ready"] != 0 for each in mates)
    most = state.setdefault("mostDown", {})
    most[pod["controller"]] = max(most.get(pod["controller"], 0), down)
    return 0


def _land(state: State, pod: State) -> None:
    """A pod without a node gets its own, unless the one that holds its room is still there."""
    name = pod.get("of", "")
    before = state.get("after", {}).get(name)
    if pod["node"] or name not in state["lands"]:
        return
    if before is None or before in state["evicted"]:
        pod |= {"node": state["lands"][name], "ready": state.get("slow", 0)}


def _uid(state: State, words: list[str], _body: str) -> int:
    sys.stdout.write(state["pods"].get(words[-1], {}).get("uid", ""))
    return 0


def _pods(state: State, _words: list[str], _body: str) -> int:
    """`ready` counts down with every look; None never gets ready."""
    for pod in state["pods"].values():
        ready = pod["ready"]
        if ready:
            pod["ready"] = ready - 1
        if pod["controller"]:
            said = "True" if ready == 0 else "False"
            sys.stdout.write(f"{pod['controller']} {said} {pod['node']}\n")
    return 0


def _node(state: State, words: list[str], _body: str) -> int:
    node = state["nodes"][words[-1]]
    sys.stdout.write(("cordoned by " if node["cordoned"] else "") + node.get("by", ""))
    return 0


def _nodes(state: State, _words: list[str], _body: str) -> int:
    for name, node in state["nodes"].items():
        sys.stdout.write(f"{name} {node['zone']}\n")
    return 0


def _patch(state: State, words: list[str], _body: str) -> int:
    patch = json.loads(words[words.index("-p") + 1])
    node = state["nodes"][words[-1]]
    node["cordoned"] = bool(patch["spec"]["unschedulable"])
    node["by"] = patch["metadata"]["annotations"]["planner/cordon"] or ""
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
