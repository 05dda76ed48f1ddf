"""What outlives the process, in the ConfigMap `planner-state` of planner's own namespace."""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec
from pydantic import ValidationError

from planner.apply.writing import Writer
from planner.errors import PlannerError
from planner.sources.live.api import ApiError
from planner_models.run_state import RoundRecord, RunState, ToldEvent

NAME = "planner-state"
KEY = "state.json"
MOST = 256 * 1024
"""Bytes; etcd takes at most four times as many."""
ROUNDS = 20
TEXT = 500
"""Characters of what is said of a round."""
REPEATED = timedelta(minutes=15)
"""After so long an event may be written again."""


def state_path(namespace: str, name: str = NAME) -> str:
    """The ConfigMap."""
    return f"/api/v1/namespaces/{namespace}/configmaps/{name}"


def with_round(state: RunState, record: RoundRecord) -> RunState:
    """The state after a round."""
    short = record.model_copy(update={"text": record.text[:TEXT]})
    rounds = (*state.rounds, short)[-ROUNDS:]
    return state.model_copy(update={"rounds": rounds, "round": record.number})


def with_told(state: RunState, key: str, now: datetime) -> RunState | None:
    """The state once an event was written; None if that was so less than 15 minutes ago."""
    recent = tuple(each for each in state.told if now - each.at < REPEATED)
    if any(each.key == key for each in recent):
        return None
    return state.model_copy(update={"told": (*recent, ToldEvent(key=key, at=now))})


def state_text(state: RunState) -> str:
    """The state as JSON below the limit: what was told goes first, then the oldest rounds.

    Which workloads are left alone is never forgotten; if that alone is too much, nothing goes.
    """
    shorter = state
    while True:
        text = shorter.model_dump_json(by_alias=True, exclude_none=True)
        if len(text.encode()) < MOST:
            return text
        if shorter.told:
            shorter = shorter.model_copy(
                update={"told": shorter.told[len(shorter.told) // 2 + 1 :]}
            )
        elif shorter.rounds:
            shorter = shorter.model_copy(update={"rounds": shorter.rounds[1:]})
        else:
            raise PlannerError(
                f"{len(state.missed)} workloads are left alone, more than {NAME} can hold",
                help="a policy that is changed lets go of them",
            )


class _Meta(msgspec.Struct, rename="camel"):
    resource_version: str = ""


class _ConfigMap(msgspec.Struct):
    metadata: _Meta
    data: dict[str, str] | None = None


class StateStore:
    """Reads the ConfigMap, and changes that very version of it."""

    def __init__(self, writer: Writer, namespace: str) -> None:
        self._writer = writer
        self._namespace = namespace
        self._path = state_path(namespace)
        self._version = ""

    def read(self) -> RunState:
        """The state; an empty one if the ConfigMap is empty or not there yet."""
        try:
            answer = self._writer.get(self._path)
        except ApiError as error:
            if error.code == 404:
                self._version = ""
                return RunState()
            raise
        found = msgspec.json.decode(answer.body, type=_ConfigMap)
        self._version = found.metadata.resource_version
        text = (found.data or {}).get(KEY)
        state = state_of(text)
        if state is None:
            raise PlannerError(
                f"the ConfigMap {self._namespace}/{NAME} holds no state that this version can read",
                help=f"kubectl -n {self._namespace} patch configmap {NAME} --type=json "
                '-p \'[{"op":"remove","path":"/data"}]\' forgets it',
            )
        return state

    def write(self, state: RunState) -> None:
        """ApiError 409 if somebody else has changed it since."""
        data = {KEY: state_text(state)}
        if not self._version:
            folder = self._path.rpartition("/")[0]
            body = {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": NAME, "namespace": self._namespace},
                "data": data,
            }
            answer = self._writer.post(folder, body)
        else:
            body = {"metadata": {"resourceVersion": self._version}, "data": data}
            answer = self._writer.patch(self._path, body)
        found = msgspec.json.decode(answer.body, type=_ConfigMap)
        self._version = found.metadata.resource_version


def state_of(text: str | None) -> RunState | None:
    """The state of a text; None for one that is none."""
    try:
        return RunState.model_validate_json(text) if text else RunState()
    except ValidationError:
        return None
