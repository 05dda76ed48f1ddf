"""Documents to typed objects: lists are opened, and each object is read by its kind's model."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from pydantic import BaseModel, ValidationError

from planner.sources.dump import Piece, UnevenDumpError
from planner.sources.dump_reader import PodRows
from planner.sources.errors import SourceError
from planner.sources.json_text import has_more, json_error, json_values
from planner.sources.kinds import CLUSTER_SCOPED, UNNAMED, model_of, right_version
from planner.sources.manifests import POD, TEMPLATE, check_manifest
from planner.sources.names import GeneratedNames
from planner.sources.objects import ObjectDecoder
from planner.sources.origin import PREFIX, SnapshotOrigin, origin_of
from planner.sources.pod_row import PodPage, RowReader
from planner.sources.pod_text import NOTHING
from planner.sources.pods import PodDecoder, WholePod
from planner.sources.read import RawDocument, Refused
from planner.sources.validation import from_decoder, from_pydantic, short
from planner_models.pod import Pod
from planner_models.workload import Controller

Text = msgspec.Raw | bytes | memoryview
_ARRAY = re.compile(rb"\s*\[")
# Plain ASCII only: whatever else a text holds there, the decoder knows how to refuse it.
_HEAD = re.compile(rb'\{\s*"apiVersion":\s*"([^"\\\x80-\xff]*)",\s*"kind":\s*"([^"\\\x80-\xff]*)"')


class _Head(msgspec.Struct, rename="camel", gc=False):
    kind: str | None = None
    api_version: str | None = None
    items: list[msgspec.Raw] | None = None
    metadata: msgspec.Raw = NOTHING


class _ListMeta(msgspec.Struct, gc=False):
    annotations: dict[str, str] | None = None


class _NamedMeta(msgspec.Struct, rename="camel", gc=False):
    name: str | None = None
    generate_name: str | None = None
    namespace: str | None = None


class _Named(msgspec.Struct, gc=False):
    metadata: _NamedMeta | None = None


class Decoded(msgspec.Struct):
    """Objects in the order of the input, and what there is to say about the others."""

    pods: list[Pod] = []
    others: dict[type[BaseModel], list[BaseModel]] = msgspec.field(
        default_factory=lambda: defaultdict(list)
    )
    files: dict[int, str] = {}
    """The files of pods that were never stored, by the id of the pod."""
    unknown: Counter[str] = msgspec.field(default_factory=Counter)
    origins: list[SnapshotOrigin] = []
    """Of dumps that say where they come from."""
    complete: set[int] = set()
    """Objects of dumps that hold all there is, by identity."""
    """Kinds that planner does not know."""
    named: list[str] = []
    """Objects that have a name of planner's making."""
    refused: list[SourceError] = []
    """What was left out because the user asked to go on without it."""
    live: dict[type[BaseModel], int] = {}
    """How many of each kind, from the first on, are those of a running cluster."""


def decode_documents(
    documents: Iterable[RawDocument | Refused | Piece | PodRows],
    *,
    skip_invalid: bool = False,
    live: Iterable[RawDocument | PodPage] = (),
) -> Decoded:
    """Every object of every document, lists opened; first those of a running cluster."""
    decoder = _Decoder(skip_invalid)
    for page in live:
        if isinstance(page, PodPage):
            decoder.add_page(page)
        else:
            decoder.add(page)
    decoder.found.live = {model: len(found) for model, found in decoder.found.others.items()}
    for document in documents:
        if isinstance(document, Refused):
            decoder.found.refused.append(document.error)
        elif isinstance(document, PodRows):
            decoder.add_rows(document)
        else:
            decoder.add(document)
    return decoder.found


class _Decoder:
    def __init__(self, skip_invalid: bool) -> None:
        self.found = Decoded()
        self._skip_invalid = skip_invalid
        self._names = GeneratedNames()
        self._pods = PodDecoder()
        self._objects = ObjectDecoder(self._pods)
        self._head = msgspec.json.Decoder(_Head)
        self._rows = RowReader()
        self._raw_list = msgspec.json.Decoder(list[msgspec.Raw])
        self._file: str | None = None
        self._before: dict[type[BaseModel], int] = {}

    def add(self, document: RawDocument | Piece) -> None:
        """A document, if it can be used."""
        if document.file != self._file:
            self._file = document.file
            self._before = {model: len(found) for model, found in self.found.others.items()}
        with self._usable():
            try:
                self._add_document(document)
            except RecursionError as error:
                raise json_error(document.file, bytes(document.data), error) from error

    @contextmanager
    def _usable(self) -> Iterator[None]:
        """What is refused in here is left out, if the user asked to go on without it."""
        try:
            yield
        except SourceError as error:
            if not self._skip_invalid:
                raise
            self.found.refused.append(error)

    def _add_document(self, document: RawDocument | Piece) -> None:
        """An object, a List, or a plain array of objects."""
        if _ARRAY.match(document.data):
            self._add_array(document)
            return
        head = self._decode_head(document)
        if head is None:
            for line, value in json_values(bytes(document.data), document.file):
                self.add(RawDocument(file=document.file, data=value, line=line))
            return
        if head.items is None:
            self._add_object(document.data, document.file, head.api_version, head.kind)
            return
        kind = (head.kind or "").removesuffix("List") or None
        for item in head.items:
            self._add_item(item, document.file, head.api_version, kind)
        self._add_origin(head.metadata)

    def _add_origin(self, metadata: msgspec.Raw) -> None:
        """Lists of others may say anything there."""
        if metadata is NOTHING or PREFIX.encode() not in bytes(metadata):
            return
        try:
            annotations = msgspec.json.decode(metadata, type=_ListMeta).annotations
        except msgspec.ValidationError:
            return
        if annotations and (origin := origin_of(annotations)) is not None:
            self.found.origins.append(origin)
            if origin.complete:
                self.found.complete.update(map(id, self._since_file()))

    def _since_file(self) -> Iterator[BaseModel]:
        """The objects of the file that is being read, which may come in pieces."""
        for model, found in self.found.others.items():
            yield from found[self._before.get(model, 0) :]

    def add_rows(self, pods: PodRows) -> None:
        """Pods of a dump; if one is refused, their texts will tell what is wrong with it."""
        try:
            self.found.pods.extend([self._pods.pod(row) for row in pods.rows])
        except ValueError as error:
            raise UnevenDumpError(pods.file) from error

    def add_page(self, page: PodPage) -> None:
        """Pods of an API server; if one is refused, it is looked for one by one."""
        try:
            self.found.pods.extend([self._pods.pod(row) for row in self._rows.page(page)])
        except ValueError:
            self.add(RawDocument(page.file, page.data, 1))

    def _add_array(self, document: RawDocument | Piece) -> None:
        """Pods alone are read in one go; whatever hinders that is found one by one."""
        try:
            pods = [self._pods.pod(row) for row in self._rows.rows(document.data)]
        except ValueError:
            pods = []
        if pods:
            self.found.pods.extend(pods)
            return
        try:
            items = self._raw_list.decode(document.data)
        except ValueError as error:
            raise _not_json(document, error) from error
        for item in items:
            self._add_item(item, document.file, None, None)

    def _decode_head(self, document: RawDocument | Piece) -> _Head | None:
        """What the document says of itself; None if it holds several values."""
        try:
            return self._head.decode(document.data)
        except msgspec.ValidationError as error:
            raise SourceError(
                "this is not a Kubernetes object",
                file=document.file,
                detail=from_decoder(error, "", "").message,
                help="an object has apiVersion, kind and metadata; a List has items",
            ) from error
        except ValueError as error:
            if has_more(error):
                return None
            raise _not_json(document, error) from error

    def _add_item(
        self, item: msgspec.Raw, file: str, api_version: str | None, kind: str | None
    ) -> None:
        """An item of a list; what it doesn't say of itself the list says for all."""
        with self._usable():
            found = _HEAD.match(memoryview(item))
            if found:
                self._add_object(item, file, str(found[1], "utf-8"), str(found[2], "utf-8"))
                return
            try:
                head = self._head.decode(item)
            except ValueError as error:
                raise SourceError(
                    "an item of the list is not a Kubernetes object",
                    file=file,
                    detail=from_decoder(error, "", "").message,
                ) from error
            self._add_object(item, file, head.api_version or api_version, head.kind or kind)

    def _add_object(self, data: Text, file: str, api_version: str | None, kind: str | None) -> None:
        if not kind:
            raise SourceError(
                "an object has no kind",
                file=file,
                object=_name_of(data, "object", namespaced=False),
                help="Kubernetes objects start with apiVersion and kind",
            )
        group = (api_version or "").rpartition("/")[0]
        if (group, kind) == ("", "Pod"):
            self.found.pods.append(self._pod(data, file))
        elif (group, kind) == ("", "List"):
            self.add(RawDocument(file=file, data=bytes(data), line=1))
        elif (model := model_of(group, kind)) is not None:
            self.found.others[model].append(self._object(model, data, file, kind))
        elif (right := right_version(group, kind)) is not None:
            raise SourceError(
                f"{short(api_version or 'an empty apiVersion')} has no {kind}",
                file=file,
                object=_name_of(data, kind, namespaced=kind not in CLUSTER_SCOPED),
                field="apiVersion",
                help=f"apiVersion: {right} is right",
            )
        else:
            self.found.unknown[kind] += 1

    def _pod(self, data: Text, file: str) -> Pod:
        try:
            pod = self._pods.decode(data)
        except ValueError as error:
            raise _refusal(WholePod, data, file, _name_of(data, "Pod"), error) from error
        if not pod.name:
            pod = msgspec.structs.replace(pod, name=self._made_name("Pod", data, file))
        if not pod.stored:
            check_manifest(bytes(data), file, _name_of(data, "Pod"), pod.spec, POD)
            self.found.files[id(pod)] = file
        return pod

    def _object(self, model: type[BaseModel], data: Text, file: str, kind: str) -> BaseModel:
        namespaced = kind not in CLUSTER_SCOPED and kind not in UNNAMED
        try:
            if kind in UNNAMED:
                return model.model_validate_json(bytes(data))
            found: Any = self._objects.decode(model, data)
        except ValueError as error:
            name = _name_of(data, kind, namespaced=namespaced)
            raise _refusal(model, data, file, name, error) from error
        if not found.name:
            name = self._made_name(kind, data, file)
            found = found.replace(metadata=found.metadata.replace(name=name))
        if not found.metadata.uid:
            spec = found.spec.template.spec if isinstance(found, Controller) else None
            name = _name_of(data, kind, namespaced=namespaced)
            check_manifest(bytes(data), file, name, spec, TEMPLATE)
        known: BaseModel = found
        return known

    def _made_name(self, kind: str, data: Text, file: str) -> str:
        """What the API server makes of `generateName`; an object with neither is refused."""
        meta = msgspec.json.decode(data, type=_Named).metadata or _NamedMeta()
        if not meta.generate_name:
            raise SourceError(
                f"a {kind} has no name",
                file=file,
                object=kind,
                field="metadata.name",
                help="give it one",
            )
        name = self._names.name(kind, meta.namespace or "", meta.generate_name)
        namespace = "" if kind in CLUSTER_SCOPED else f"{meta.namespace or 'default'}/"
        self.found.named.append(f"{kind} {namespace}{name}")
        return name


def _not_json(document: RawDocument | Piece, error: ValueError) -> Exception:
    if isinstance(document, Piece):
        return UnevenDumpError(document.file)
    return json_error(document.file, document.data, error)


def _refusal(
    model: type[BaseModel], data: Text, file: str, name: str, error: ValueError
) -> SourceError:
    """What is wrong with an object: its model, asked about the whole of it, knows the field."""
    try:
        model.model_validate_json(bytes(data))
    except ValidationError as refused:
        return from_pydantic(refused, file, name)
    return from_decoder(error, file, name)


def _name_of(data: Text, kind: str, *, namespaced: bool = True) -> str:
    """`Deployment default/web` for a message, as far as the text tells it."""
    try:
        meta = msgspec.json.decode(data, type=_Named).metadata
    except ValueError:
        return kind
    name = "" if meta is None else meta.name or meta.generate_name
    if meta is None or not name:
        return kind
    namespace = f"{meta.namespace or 'default'}/" if namespaced else ""
    return f"{kind} {short(namespace + name, 320)}"
