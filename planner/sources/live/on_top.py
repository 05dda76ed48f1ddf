"""The user's files on top of a running cluster, as `kubectl apply` would put them there.

What a manifest sets counts; what it leaves out stays as the cluster has it, unless the manifest
that was applied before had set it (`last-applied-configuration`). So a Deployment without
`replicas` keeps those that an autoscaler gave it. Pods that are there already stay as they are:
next to nothing of a pod can be changed.
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
from planner.sources.pod_text import TemplateText
from planner.sources.pods import PodDecoder
from planner.sources.read import Document, RawDocument
from planner_models.notice import Notice
from planner_models.pod import PodTemplate

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

MERGED_BY = {
    "containers": ("name",),
    "initContainers": ("name",),
    "volumes": ("name",),
    "ports": ("containerPort", "protocol"),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
}
"""Lists whose items are merged one by one, and the fields that tell them apart; all others that
planner reads are replaced as a whole."""

_DEFAULTS = {"protocol": "TCP", "whenUnsatisfiable": "DoNotSchedule"}

_KIND = re.compile(rb'"kind":\s*"(\w+)List"')

Json = dict[str, Any]


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
        # kubectl adds an annotation of its own, so those of others stay in any case.
        given["metadata"].setdefault("annotations", {})
        found: Json = merged(_last_applied(live), given, live)
        if _template(found) != _template(live):
            self._rolled_out.add(f"{key.kind} {key.namespace}/{key.name}")
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


def _document(place: RawDocument, value: Any) -> RawDocument:
    return RawDocument(place.file, json.dumps(value).encode(), place.line)


def _said_of_items(value: Any) -> Json:
    """What a list says of its items that don't say it themselves."""
    kind = str(value.get("kind") or "").removesuffix("List") if isinstance(value, dict) else ""
    return {"apiVersion": value.get("apiVersion"), "kind": kind} if kind else {}


def _is(names: Set[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _template(value: Json) -> PodTemplate | None:
    """A workload's template, as far as placement depends on it."""
    spec = value.get("spec")
    template = spec.get("template") if isinstance(spec, dict) else None
    if not isinstance(template, dict):
        return None
    text = msgspec.json.decode(json.dumps(template), type=TemplateText)
    return PodDecoder().template(text)


def _last_applied(live: Json) -> Json:
    text = (live.get("metadata", {}).get("annotations") or {}).get(LAST_APPLIED)
    try:
        before = json.loads(text) if text else {}
    except ValueError:
        return {}
    return before if isinstance(before, dict) else {}


def merged(before: Any, given: Any, live: Any, field: str = "") -> Any:
    """The three-way merge of `kubectl apply`: last applied, to be applied, as it is."""
    if isinstance(given, dict) and isinstance(live, dict):
        before = before if isinstance(before, dict) else {}
        removed = before.keys() - given.keys()
        kept = {name: value for name, value in live.items() if name not in removed}
        for name, value in given.items():
            if value is None:
                kept.pop(name, None)
            else:
                kept[name] = merged(before.get(name), value, live.get(name), name)
        return kept
    by = MERGED_BY.get(field)
    if by and isinstance(given, list) and isinstance(live, list):
        return _merged_list(_by(by, before), _by(by, given), _by(by, live))
    return given


_Items = dict[tuple[str, ...], Any]


def _merged_list(before: _Items, given: _Items, live: _Items) -> list[Any]:
    """The items of the manifest, and those that somebody else has added."""
    found = [merged(before.get(key), item, live.get(key)) for key, item in given.items()]
    return [*found, *(item for key, item in live.items() if key not in given and key not in before)]


def _by(fields: tuple[str, ...], items: Any) -> _Items:
    """The items by what tells them apart; a port without a protocol is one of TCP."""
    if not isinstance(items, list):
        return {}
    return {_told(fields, item): item for item in items if isinstance(item, dict)}


def _told(fields: tuple[str, ...], item: Json) -> tuple[str, ...]:
    return tuple(str(item.get(name) or _DEFAULTS.get(name)) for name in fields)
