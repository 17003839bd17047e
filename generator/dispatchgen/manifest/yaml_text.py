"""Texts as a manifest has them."""

from __future__ import annotations

import math

import yaml


def scalar(text: str) -> str:
    """A text as YAML, plain where it is read back as that text inside a flow sequence."""
    plain = text.isascii() and text.isprintable() and not set(text) & set(" ,[]{}#:&*!|>'\"%@`\n\t?")
    if plain and text and _is_read_back(text):
        return text
    return str(yaml.safe_dump(text, default_style='"', width=math.inf)).strip()


def _is_read_back(text: str) -> bool:
    """Whether a plain text is a text to YAML, and not a number, a date or a tag such as `<<`."""
    try:
        return bool(yaml.safe_load(f"[{text}]") == [text])
    except yaml.YAMLError:
        return False
