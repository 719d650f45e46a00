"""Implicit bias and what a ReLU does to it, for someone who has had linear algebra."""

from __future__ import annotations

from relubias.report.html import Block, Text


def introduction() -> list[Block]:
    """The text with its pictures."""
    return [Text("TODO")]
