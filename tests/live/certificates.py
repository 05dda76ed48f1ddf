"""A certificate authority for tests, made by the openssl program; there is none in Python."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

CONFIG = """
[req]
distinguished_name = name
x509_extensions = own
prompt = no
[name]
CN = planner-test
[own]
basicConstraints = critical,CA:TRUE
subjectAltName = IP:127.0.0.1,DNS:localhost
"""

needs_openssl = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="openssl is not installed"
)


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for this machine that signs itself, and its key."""
    config, crt, key = folder / "req.cnf", folder / "ca.crt", folder / "tls.key"
    config.write_text(CONFIG)
    made = ("-newkey", "rsa:2048", "-nodes", "-days", "30", "-config", str(config))
    subprocess.run(
        ["openssl", "req", "-x509", *made, "-keyout", str(key), "-out", str(crt)],
        check=True,
        capture_output=True,
    )
    return crt, key


def server_side(crt: Path, key: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(crt, key)
    return context
