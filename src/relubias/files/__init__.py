"""Floor 2: files become problems."""

from __future__ import annotations

from relubias.files.preprocess import preprocess_features
from relubias.files.reading import read

__all__ = ["preprocess_features", "read"]
