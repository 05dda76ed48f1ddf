"""The user's files on top of a running cluster, as `kubectl apply` would put them there.

Objects that are in both are merged. Pods that are there already stay as they are: next to nothing
of a pod can be changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Set
from typing import Any, NamedTuple

import msgspec

from planner.sources.inventory import counted, name_some
from planner.sources.json_text import json_values
from planner.sources.kinds import CLUSTER_SCOPED, UNNAMED
from planner.sources.live.three_way_merge import Json, applied
from planner.sources.pod_text import TemplateText
from planner.sources.pods import PodDecoder
from planner.sources.read import Document, RawDocument
from planner_models.notice import Notice
from planner_models.pod import PodTemplate

_KIND = re.compile(rb'"kind":\s*"(\w+)List"')


class _Key(NamedTuple):
    group: str
    kind: str
    namespace: str
    name: str


class _ListText(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    items: list[msgspec.Raw]


class _Meta(msgspec.Struct):
    name: str
    namespace: str = ""


class _Item(msgspec.Struct):
    metadata: _Meta


class OnTop:
    """Objects of files, and the objects of the cluster that they change."""

    def __init__(self, documents: Iterable[Document], namespace: str) -> None:
        self._namespace = namespace
        self._given: list[Document] = []
        self._live: dict[_Key, Json | None] = {}
        """The objects of the files by key; with what the cluster has, as soon as that is read."""
        self._unchanged: set[str] = set()
        self._rolled_out: set[str] = set()
        self._scaled_down: set[str] = set()
        for document in documents:
            self._add(document)
        self._kinds = {(key.group, key.kind) for key in self._live}

    @property
    def given(self) -> tuple[Document, ...]:
        """The objects of the files, each with its namespace."""
        return tuple(self._given)

    def _add(self, document: Document) -> None:
        """An object of its own, or those of a List; the decoder refuses what is neither."""
        if not isinstance(document, RawDocument):
            self._given.append(document)
            return
        for _, text in json_values(document.data, document.file):
            self._add_value(RawDocument(document.file, text, document.line))

    def _add_value(self, document: RawDocument) -> None:
        value = json.loads(document.data)
        items = value.get("items") if isinstance(value, dict) else value
        if isinstance(items, list):
            said = _said_of_items(value)
            for item in items:
                opened = {**said, **item} if isinstance(item, dict) else item
                self._add_value(_document(document, opened))
            return
        if not isinstance(value, dict):
            self._given.append(document)
            return
        key = self._key(value)
        if key is None:
            self._given.append(document)
            return
        self._live.setdefault(key, None)
        if key.namespace and not value["metadata"].get("namespace"):
            value["metadata"]["namespace"] = key.namespace
            document = _document(document, value)
        self._given.append(document)

    def _key(self, value: Json) -> _Key | None:
        meta, kind = value.get("metadata"), value.get("kind")
        if not isinstance(meta, dict) or not isinstance(kind, str) or kind in UNNAMED:
            return None
        group = str(value.get("apiVersion") or "").rpartition("/")[0]
        name, namespace = str(meta.get("name") or ""), str(meta.get("namespace") or "")
        scoped = kind in CLUSTER_SCOPED
        return _Key(group, kind, "" if scoped else namespace or self._namespace, name)

    def rest(self, page: bytes) -> bytes:
        """A page of the cluster's objects without those that the files change."""
        head = _KIND.search(page[:400])
        if not any(head is None or head[1].decode() == kind for _, kind in self._kinds):
            return page
        text = msgspec.json.decode(page, type=_ListText)
        group = text.api_version.rpartition("/")[0]
        kind = text.kind.removesuffix("List")
        if (group, kind) not in self._kinds:
            return page
        kept = [item for item in text.items if not self._changed(item, group, kind)]
        if len(kept) == len(text.items):
            return page
        return msgspec.json.encode(_ListText(text.api_version, text.kind, kept))

    def _changed(self, item: msgspec.Raw, group: str, kind: str) -> bool:
        meta = msgspec.json.decode(item, type=_Item).metadata
        key = _Key(group, kind, meta.namespace, meta.name)
        if key not in self._live:
            return False
        self._live[key] = json.loads(bytes(item))
        return True

    def documents(self) -> Iterator[Document]:
        """The objects of the files, merged into those of the cluster; ask when that is read."""
        for document in self._given:
            value = json.loads(document.data) if isinstance(document, RawDocument) else None
            key = self._key(value) if isinstance(value, dict) else None
            live = None if key is None else self._live.get(key)
            if not isinstance(document, RawDocument) or not value or key is None or live is None:
                yield document
                continue
            yield _document(document, self._applied(key, value, live))

    def _applied(self, key: _Key, given: Json, live: Json) -> Json:
        head = {"apiVersion": given["apiVersion"], "kind": key.kind}
        if key.kind == "Pod":
            self._unchanged.add(f"{key.namespace}/{key.name}")
            return {**live, **head}
        found = applied(given, live)
        name = f"{key.kind} {key.namespace}/{key.name}"
        if _template(found) != _template(live):
            self._rolled_out.add(name)
        if _replicas(found) < _replicas(live):
            self._scaled_down.add(name)
        return {**found, **head}

    def notices(self) -> Iterator[Notice]:
        """What applying leaves as it is, though the manifests may say otherwise."""
        if self._unchanged:
            text = (
                f"{counted(len(self._unchanged), 'pod')} of the files "
                f"{_is(self._unchanged)} in the cluster already, and left as there"
            )
            yield Notice(code="appliedPod", text=text, objects=name_some(self._unchanged))
        if self._rolled_out:
            text = (
                f"{counted(len(self._rolled_out), 'workload')} of the files {_is(self._rolled_out)}"
                " in the cluster with another template; the pods there are counted as they are,"
                " not rolled out anew"
            )
            yield Notice(code="appliedTemplate", text=text, objects=name_some(self._rolled_out))
        if self._scaled_down:
            text = (
                f"{counted(len(self._scaled_down), 'workload')} of the files "
                f"{'wants' if len(self._scaled_down) == 1 else 'want'} fewer replicas than the "
                "cluster has; the pods there are counted as they are"
            )
            yield Notice(code="appliedReplicas", text=text, objects=name_some(self._scaled_down))


def _document(place: RawDocument, value: Any) -> RawDocument:
    return RawDocument(place.file, json.dumps(value).encode(), place.line)


def _said_of_items(value: Any) -> Json:
    """What a list says of its items that don't say it themselves."""
    kind = str(value.get("kind") or "").removesuffix("List") if isinstance(value, dict) else ""
    return {"apiVersion": value.get("apiVersion"), "kind": kind} if kind else {}


def _is(names: Set[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _replicas(value: Json) -> int:
    """How many pods a workload wants, where it says so."""
    spec = value.get("spec")
    number = spec.get("replicas") if isinstance(spec, dict) else None
    return number if isinstance(number, int) else 0


def _template(value: Json) -> PodTemplate | None:
    """A workload's template, as far as placement depends on it."""
    spec = value.get("spec")
    template = spec.get("template") if isinstance(spec, dict) else None
    if not isinstance(template, dict):
        return None
    text = msgspec.json.decode(json.dumps(template), type=TemplateText)
    return PodDecoder().template(text)
