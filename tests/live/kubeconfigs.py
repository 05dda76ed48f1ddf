"""Kubeconfigs for tests, and whether there is a kubectl to read them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

needs_kubectl = pytest.mark.skipif(
    shutil.which("kubectl") is None, reason="kubectl is not installed"
)


def kubeconfig(
    folder: Path, server: str, user: dict[str, Any] | None = None, ca: Path | None = None
) -> str:
    """A file with the contexts prod-eu, in namespace shop, and staging; the first is current."""
    cluster = {"server": server} | ({} if ca is None else {"certificate-authority": str(ca)})
    contexts = (("prod-eu", "shop"), ("staging", "default"))
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "prod-eu",
        "contexts": [
            {"name": name, "context": {"cluster": "c", "user": "alice", "namespace": namespace}}
            for name, namespace in contexts
        ],
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "alice", "user": user or {}}],
    }
    file = folder / "kubeconfig.json"
    file.write_text(json.dumps(config))
    return str(file)
