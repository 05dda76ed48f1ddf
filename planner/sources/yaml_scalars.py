"""The value of a YAML scalar, by the rules of the library that kubectl reads YAML with.

kubectl uses sigs.k8s.io/yaml on top of go-yaml v2: YAML 1.1 with exceptions. `y` and `on` are
booleans, `22:22` is text (no numbers to base 60), dates stay text, `0o17` and `017` are both 15,
and `08`, which is no octal number, is a decimal one. Floating point numbers without a fraction
become integers, because Go writes them to JSON as such: `replicas: 3.0` is 3.
"""

from __future__ import annotations

import math
import re
import struct
from functools import lru_cache

Scalar = str | int | float | bool | None

_WORDS: dict[str, bool | float | None] = {
    **dict.fromkeys(
        ("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True
    ),
    **dict.fromkeys(
        ("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False
    ),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
}
_INTEGER = re.compile(
    r"(?P<sign>[-+]?)(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|0[oO]?(?P<oct>[0-7]+)"
    r"|(?P<dec>0|[1-9][0-9]*))"
)
_SIGN_AFTER_PREFIX = re.compile(r"0b(?P<bin>[-+][01]+)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_FRACTION = re.compile(r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?")
_BASES = {"hex": 16, "bin": 2, "oct": 8, "dec": 10}
_INT64_MIN, _INT64_MAX, _UINT64_MAX = -(2**63), 2**63 - 1, 2**64 - 1
_STARTS_NUMBER = frozenset("0123456789+-")
_MAX_NUMBER_LENGTH = 4096
"""Longer runs of digits are text; nothing that Kubernetes counts comes near."""

_TAG_PREFIX = "tag:yaml.org,2002:"
_KINDS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "null": (type(None),),
}


@lru_cache(maxsize=1 << 14)
def plain_value(text: str) -> Scalar:
    """The value of an unquoted scalar. Infinities and NaN come back as such."""
    if text in _WORDS:
        return _WORDS[text]
    first = text[0]
    if first in _STARTS_NUMBER:
        value = _number(text.replace("_", ""))
        return text if value is None else value
    if first == "." and _FRACTION.fullmatch(text) and len(text) <= _MAX_NUMBER_LENGTH:
        value = _float(text)
        return text if value is None else value
    return text


def tagged_value(tag: str, text: str) -> Scalar:
    """The value of a scalar with an explicit tag; a ValueError says why there is none.

    A tag that go-yaml doesn't know leaves the text as it is.
    """
    name = tag.removeprefix(_TAG_PREFIX)
    if name == "binary" and name != tag:
        raise ValueError("!!binary is not supported; write the base64 text without the tag")
    kinds = _KINDS.get(name) if name != tag else None
    if kinds is None:
        return text
    value = plain_value(text)
    if type(value) not in kinds:
        raise ValueError(f'"{_short(text)}" is not of the type !!{name}')
    return value


def key_text(value: Scalar) -> str:
    """A mapping key as text: JSON has no other keys. Null is refused, as kubectl does."""
    if isinstance(value, str):
        return value
    if value is None:
        raise ValueError("a key is empty or null; a text is needed")
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else _float_key(value)


def _number(plain: str) -> int | float | None:
    if len(plain) > _MAX_NUMBER_LENGTH:
        return None
    match = _INTEGER.fullmatch(plain) or _SIGN_AFTER_PREFIX.fullmatch(plain)
    if match:
        base = str(match.lastgroup)
        integer = int(match[base], _BASES[base])
        signed = match.groupdict().get("sign") or ""
        integer = -integer if signed == "-" else integer
        if _INT64_MIN <= integer <= (_INT64_MAX if signed else _UINT64_MAX):
            return integer
    return _float(plain) if _FLOAT.fullmatch(plain) else None


def _float(text: str) -> int | float | None:
    """Numbers beyond the range of a float stay text in go-yaml."""
    value = float(text)
    if math.isinf(value):
        return None
    return int(value) if value.is_integer() and _INT64_MIN <= value <= _INT64_MAX else value


def _float_key(value: float) -> str:
    """Go's shortest text that gives the same 32-bit float; sigs.k8s.io/yaml writes keys so."""
    single: float = struct.unpack("f", struct.pack("f", value))[0]
    if not math.isfinite(single):
        return ".nan" if math.isnan(single) else (".inf" if single > 0 else "-.inf")
    exact = struct.pack("f", single)
    candidates = (f"{single:.{digits}e}" for digits in range(9))
    scientific = next(text for text in candidates if struct.pack("f", float(text)) == exact)
    mantissa, _, power = scientific.partition("e")
    digits, exponent = len(mantissa.partition(".")[2]), int(power)
    if -4 <= exponent < 6:
        return f"{float(scientific):.{max(0, digits - exponent)}f}"
    return scientific


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
