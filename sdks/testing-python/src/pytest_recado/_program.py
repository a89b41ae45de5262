"""Starts `recado dev` as a process that ends with the program that started it."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from typing import IO, Any

# The shell becomes the program. What it leaves behind waits until standard input closes, as it does when this process ends, however
# it ends; then it stops the program and removes its folder.
_GUARDED = """folder=$1; shift; exec 3<&0
(read -r _ <&3; kill $$; n=0; while [ $n -lt 100 ] && kill -0 $$; do sleep 0.1; n=$((n+1)); done; rm -rf "$folder") >/dev/null 2>&1 &
exec "$@" </dev/null 3<&-"""


class StartError(Exception):
    """The gateway could not be started. The message has the end of its log."""


def _chosen(program: str | None) -> str | None:
    """Returns the program to start, or None for Docker."""
    program = program or os.environ.get("RECADO_BIN") or shutil.which("recado")
    if program:
        return program
    if shutil.which("docker"):
        return None
    raise StartError("There is no program `recado`: put it in PATH, name it in RECADO_BIN, or install Docker.")


class Program:
    """A gateway's process. Making one waits until everything answers."""

    def __init__(self, program: str | None, image: str | None, timeout: float) -> None:
        program = _chosen(program)
        self._folder = tempfile.mkdtemp(prefix="pytest-recado-")
        if program:
            data = os.path.join(self._folder, "data")
            command = [program, "dev", "--json", "--listen", "127.0.0.1:0", "--data", data]
        else:
            image = image or os.environ.get("RECADO_IMAGE") or "recado"
            # With the network of the machine, so that webhooks reach a bot on 127.0.0.1.
            command = ["docker", "run", "--rm", "--network", "host", image, "dev", "--json", "--listen", "127.0.0.1:0"]
        guarded = command if sys.platform == "win32" else ["/bin/sh", "-c", _GUARDED, "recado", self._folder, *command]
        # The settings of another gateway do not reach this one.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("RECADO_")}
        self._log = ""
        try:
            self._process = subprocess.Popen(
                guarded, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
        except OSError as error:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise StartError(f"{command[0]} did not start: {error}") from error
        atexit.register(self.stop)
        self._lines: list[bytes] = []
        self._readers = [
            threading.Thread(target=read, args=(stream,), daemon=True)
            for read, stream in ((self._keep_log, self._process.stderr), (self._keep_line, self._process.stdout))
        ]
        self._said = threading.Event()
        for reader in self._readers:
            reader.start()
        try:
            self.ready = self._wait(timeout)
        except BaseException as error:
            self.stop()
            if not isinstance(error, Exception):
                raise  # somebody interrupts the tests
            raise StartError(f"{' '.join(command)} did not start: {error}\n{self._log}") from error

    def _keep_log(self, stream: IO[bytes]) -> None:
        for line in stream:
            self._log = (self._log + line.decode(errors="replace"))[-20_000:]

    def _keep_line(self, stream: IO[bytes]) -> None:
        self._lines.append(stream.readline(100_000))
        self._said.set()
        for _ in stream:
            """Nothing else is of interest, but the program must be able to write it."""

    def _wait(self, timeout: float) -> dict[str, Any]:
        """Waits for the line that the program prints when it is ready."""
        if not self._said.wait(timeout):
            raise TimeoutError(f"it was not ready within {timeout:g} seconds")
        if not self._lines[0]:
            raise RuntimeError(f"it ended with {self._process.wait(15)}")
        ready: dict[str, Any] = json.loads(self._lines[0])
        return ready

    @property
    def log(self) -> str:
        """The end of the log."""
        return self._log

    def stop(self) -> None:
        """Ends the program, and returns when it has ended and its folder is gone."""
        atexit.unregister(self.stop)
        self._process.terminate()
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdin:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        for reader in self._readers:
            reader.join(5)
        for stream in (self._process.stdout, self._process.stderr):
            if stream:
                stream.close()
        # What the shell left behind removes it at the same time.
        shutil.rmtree(self._folder, ignore_errors=True)
