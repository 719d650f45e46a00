"""relubias: which zero-loss solution does gradient descent on a ReLU model pick?"""

from __future__ import annotations

__version__ = "0.1.0"
