"""Whoever asks an anonymous dump gets the answer that the cluster gives, under other names.

`PLANNER_HYPOTHESIS_PROFILE=long` tries 300 random clusters.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

import planner
from planner.api.answers import Answer
from planner.examples import examples
from tests.dump.clusters import random_cluster

LONG = os.environ.get("PLANNER_HYPOTHESIS_PROFILE") == "long"
CLUSTERS = range(300 if LONG else 25)
EXAMPLES = [each.name for each in examples()]


class Copies:
    """A cluster as a plain dump, and as one without names."""

    def __init__(self, cluster: planner.Cluster, folder: Path) -> None:
        self._plain, self._anonymous = folder / "plain.json", folder / "anonymous.json"
        self._names = folder / "names"
        cluster.dump(self._plain)
        cluster.dump(self._anonymous, anonymous=True, names=str(self._names))
        self.plain, self.anonymous = planner.load(self._plain), planner.load(self._anonymous)

    def told(self, answer: Answer) -> list[str]:
        """The lines of an answer of the plain dump."""
        text = answer.to_json().replace(str(self._plain), "FILE")
        return [_narrow(line) for line in text.splitlines()]

    def translated(self, answer: Answer) -> list[str]:
        """The lines of an answer of the other, with the names of the cluster."""
        text = planner.translate(answer.to_json(), self._names)
        text = text.replace(str(self._anonymous), "FILE")
        return [_narrow(line) for line in text.splitlines()]

    def original(self, name: str) -> str:
        """What something of the anonymous dump was called."""
        return planner.translate(name, self._names)


def _narrow(line: str) -> str:
    """Pictures are as wide as names are long; `r*` is short for nodes that begin alike."""
    return re.sub(r'"which": "[^"]*\*"', '"which": "*"', re.sub(r" +", " ", line))


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("command", ["inspect", "simulate", "solve", "evict"])
def test_an_example_is_answered_alike(name: str, command: str, tmp_path: Path) -> None:
    copies = Copies(planner.load(example=name, keep_objects=True), tmp_path)
    told = copies.told(getattr(copies.plain, command)())
    assert copies.translated(getattr(copies.anonymous, command)()) == told


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_explained_alike(name: str, tmp_path: Path) -> None:
    copies = Copies(planner.load(example=name, keep_objects=True), tmp_path)
    pairs = zip(copies.plain.pods, copies.anonymous.pods, strict=True)
    for one, other in [pair for pair in pairs if not pair[0].node_name] or [
        (copies.plain.pods[0], copies.anonymous.pods[0])
    ]:
        told = copies.told(copies.plain.explain(f"pod/{one.name}", namespace=one.namespace))
        other_told = copies.anonymous.explain(f"pod/{other.name}", namespace=other.namespace)
        assert copies.translated(other_told) == told


@pytest.mark.parametrize("seed", CLUSTERS)
def test_a_random_cluster_is_answered_alike(seed: int, tmp_path: Path) -> None:
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": random_cluster(seed)}))
    copies = Copies(planner.load(file, keep_objects=True), tmp_path)
    for command in ("inspect", "simulate", "evict", *(("solve",) if LONG else ())):
        told = copies.told(getattr(copies.plain, command)())
        assert copies.translated(getattr(copies.anonymous, command)()) == told, command
    assert "acme" not in (tmp_path / "anonymous.json").read_text()


def test_an_anonymous_dump_can_be_made_anonymous_again(tmp_path: Path) -> None:
    """All names in it are such as planner gives: none of them may stay."""
    planner.load(example="zone-outage", keep_objects=True).dump(
        tmp_path / "once.json", anonymous=True
    )
    once = planner.load(tmp_path / "once.json", keep_objects=True)
    copies = Copies(once, tmp_path)
    told = copies.told(copies.plain.evict())
    assert copies.translated(copies.anonymous.evict()) == told
