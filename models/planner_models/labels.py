"""Label keys and values, with the rules by which the API server refuses them.

A key is a name of at most 63 characters, optionally after a DNS-1123 subdomain and a slash; a
value is empty or has the form of a name. The checks are cached: clusters repeat few labels often.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Annotated

from pydantic import AfterValidator

NAME_LIMIT = 63
SUBDOMAIN_LIMIT = 253

_CACHE_SIZE = 1 << 16
_NAME = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")
_NAME_RULE = "must begin and end with a letter or digit, with only letters, digits, '-', '_', '.'"


@lru_cache(maxsize=_CACHE_SIZE)
def check_label_key(text: str) -> str:
    """The text itself if it is a qualified name, such as `app` or `topology.kubernetes.io/zone`."""
    prefix, slash, name = text.rpartition("/")
    if slash:
        fault = _subdomain_fault(prefix)
        if fault:
            raise ValueError(f'"{text}" is not a label key: the part before "/" {fault}')
    fault = "is empty" if not name else _name_fault(name)
    if fault:
        raise ValueError(f'"{text}" is not a label key: the name {fault}')
    return text


@lru_cache(maxsize=_CACHE_SIZE)
def check_label_value(text: str) -> str:
    """The text itself if it is empty or has the form of a name."""
    fault = _name_fault(text) if text else ""
    if fault:
        raise ValueError(f'"{text}" is not a label value: it {fault}')
    return text


def check_dns_subdomain(text: str) -> str:
    """The text itself if it is a DNS-1123 subdomain, the form of node and most other names."""
    fault = _subdomain_fault(text)
    if fault:
        raise ValueError(f'"{text}" is not a DNS subdomain: it {fault}')
    return text


def _name_fault(text: str) -> str:
    if len(text) > NAME_LIMIT:
        return f"has {len(text)} characters; at most {NAME_LIMIT} are allowed"
    return "" if _NAME.fullmatch(text) else _NAME_RULE


def _subdomain_fault(text: str) -> str:
    if len(text) > SUBDOMAIN_LIMIT:
        return f"has {len(text)} characters; at most {SUBDOMAIN_LIMIT} are allowed"
    if not _SUBDOMAIN.fullmatch(text):
        return "must be lower-case letters, digits and '-' in parts separated by '.'"
    return ""


LabelKey = Annotated[str, AfterValidator(check_label_key)]
LabelValue = Annotated[str, AfterValidator(check_label_value)]
Labels = dict[LabelKey, LabelValue]
