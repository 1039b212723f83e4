"""Memory that is not given back, and errors about memory that are not recognised."""

from __future__ import annotations

OUT_OF_MEMORY = "out of memory"
