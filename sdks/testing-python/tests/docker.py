"""Stands in for Docker: the image is the program, and its port is forwarded by nobody."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

place = Path(__file__).parent
command, *rest = sys.argv[1:]
if command == "port":
    told = json.loads((place / "container.json").read_text("utf-8"))
    if rest != [told["container"], "8080/tcp"]:
        sys.exit(1)
    print(f"127.0.0.1:{told['port']}")
else:
    rm, name, container, publish, address, image, *args = rest
    if [command, rm, name, publish, address, image] != ["run", "--rm", "--name", "-p", "127.0.0.1::8080", "an-image"]:
        sys.exit(f"unexpected: {sys.argv}")
    program = os.readlink(place / "program")
    more = ["--listen", "127.0.0.1:0", "--data", str(place / "data")]
    with subprocess.Popen([program, *args, *more], stdout=subprocess.PIPE, text=True) as child:
        signal.signal(signal.SIGTERM, lambda *_: child.terminate())
        assert child.stdout
        ready = json.loads(child.stdout.readline())
        told = {"container": container, "port": int(ready["baseUrl"].rpartition(":")[2])}
        (place / "container.json").write_text(json.dumps(told), "utf-8")
        print(json.dumps({**ready, "baseUrl": "http://localhost:8080"}), flush=True)
