"""Creates its cache folder on import, like the real module."""

import os
import tempfile

default = os.path.join(tempfile.gettempdir(), "torchinductor_stub")
os.makedirs(os.environ.get("TORCHINDUCTOR_CACHE_DIR", default), exist_ok=True)
