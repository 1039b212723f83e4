"""Implements the protocol between runner and worker, which uses JSON lines."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import select
import sys
import threading
from typing import Any


class Channel:
    """Reads requests from the runner's pipe, and sends messages to the runner."""

    def __init__(self, threaded: bool) -> None:
        # Only this process has these descriptors. Output while importing torch goes to stderr.
        self.incoming, self.outgoing = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        self.buffer = b""
        self.chunks: queue.SimpleQueue[bytes] | None = None
        self.hello = json.loads(self._first_line())
        self.token = self.hello.pop("token")
        if threaded:  # Windows cannot wait for pipes, but a forking process must not have threads
            self.chunks = queue.SimpleQueue()
            threading.Thread(target=self._read, daemon=True).start()

    def _first_line(self) -> bytes:
        while b"\n" not in self.buffer:
            if not (chunk := os.read(self.incoming, 2**16)):
                sys.exit(0)  # the runner is gone
            self.buffer += chunk
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line

    def _read(self) -> None:
        chunk = b"-"
        while chunk:
            chunk = os.read(self.incoming, 2**16)
            assert self.chunks is not None
            self.chunks.put(chunk)

    def requests(self, seconds: float) -> list[dict[str, Any]] | None:
        """Returns the requests that arrive in time, or None if the runner has closed its end."""
        chunk: bytes | None = None
        if self.chunks is not None:
            with contextlib.suppress(queue.Empty):
                chunk = self.chunks.get(timeout=seconds)
        elif select.select([self.incoming], [], [], seconds)[0]:
            chunk = os.read(self.incoming, 2**16)
        if chunk == b"":
            return None
        *lines, self.buffer = (self.buffer + (chunk or b"")).split(b"\n")
        return [json.loads(line) for line in lines]

    def say(self, event: str, message: dict[str, Any]) -> None:
        data = (json.dumps({**message, "event": event, "token": self.token}) + "\n").encode()
        while data:
            data = data[os.write(self.outgoing, data) :]

    def abandon(self) -> None:
        """Closes the channel. A forked child has to do this first."""
        os.close(self.incoming)
        os.close(self.outgoing)
        self.token, self.buffer = "", b""
