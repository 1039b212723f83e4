"""Makes its folder of caches when it is imported, as the real one does."""

import os
import tempfile

default = os.path.join(tempfile.gettempdir(), "torchinductor_stub")
os.makedirs(os.environ.get("TORCHINDUCTOR_CACHE_DIR", default), exist_ok=True)
