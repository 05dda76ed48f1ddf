"""Names, uids and times as the API server and its controllers make them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

SAFE_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""The alphabet of generated names: no vowels and nothing that looks alike."""

FIRST_MOMENT = datetime(2026, 9, 1, tzinfo=UTC)


def random_name(rng: Random, length: int) -> str:
    """A suffix such as generateName adds."""
    return "".join(rng.choices(SAFE_LETTERS, k=length))


def random_uid(rng: Random) -> str:
    """A version 4 UUID."""
    digits = f"{rng.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def moment(seconds: int) -> str:
    """A time so many seconds after the cluster began, as the API writes it."""
    return (FIRST_MOMENT + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def image_digest(image: str) -> str:
    """An image's reference by digest: the same on every node and in every pod's status."""
    digest = f"{Random(image).getrandbits(256):064x}"
    return f"{image.rsplit(':', 1)[0]}@sha256:{digest}"
