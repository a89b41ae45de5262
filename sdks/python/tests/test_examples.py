"""The examples, with the package that is installed, as they are shown in the README."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import GATEWAY, as_phone

from recado import Recado

PACKAGE = Path(__file__).parent.parent
INSTANCE = GATEWAY["instanceId"]


@pytest.fixture
def run() -> Iterator[Callable[..., Any]]:
    """Starts an example, with the variables that it reads."""
    started = []

    def start(name: str, **variables: str) -> Any:
        environment = {**os.environ, "RECADO_URL": GATEWAY["baseUrl"], "RECADO_API_KEY": GATEWAY["apiKey"], **variables}
        program = [sys.executable, str(PACKAGE / "examples" / f"{name}.py")]
        started.append(subprocess.Popen(program, env=environment, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def recado() -> Iterator[Recado]:
    """A client of the gateway."""
    with Recado(GATEWAY["baseUrl"], GATEWAY["apiKey"]) as client:
        yield client


def test_readme_shows_the_examples_as_they_are() -> None:
    shown = re.findall(r"```python\n(.*?)```", (PACKAGE / "README.md").read_text("utf-8"), re.DOTALL)
    files = [path.read_text("utf-8") for path in (PACKAGE / "examples").glob("*.py") if path.stem != "guide"]
    assert len(files) == 3
    assert sorted(shown) == sorted(files)


def test_guide(run: Any, recado: Recado) -> None:
    program = run("guide", RECADO_PARTNER_KEY=GATEWAY["partnerKey"])
    printed = program.communicate(timeout=120)[0].splitlines()
    assert program.returncode == 0
    assert [line for line in printed if re.fullmatch("[A-Z_]{10,}", line)] == [
        "IDEMPOTENCY_CONFLICT",
        "VALIDATION_ERROR",
        "RECIPIENT_NOT_REGISTERED",
        "UNAUTHORIZED",
        "PAYMENT_REQUIRED",
    ]
    texts = [message["caption"] or message["text"] for message in as_phone("5511988887766/messages")["data"]]
    assert {"Chega até as 18h.", "Seu pedido", "Como montar", "Sua nota", "Chegou?"} <= set(texts)
    assert texts.count("Pedido 1234 enviado.") == 1
    assert [instance.name for instance in recado.instances()] == ["demo"]


def test_send(run: Any, recado: Recado) -> None:
    message_id = run("send").stdout.readline().strip()
    assert recado.get_message(instance_id=INSTANCE, message_id=message_id).text == "Oi!"


def test_echo(run: Any) -> None:
    customer = "5511977776655"
    run("echo")
    # It echoes what comes from now on, so the customer writes until it does.
    end = time.monotonic() + 60
    while ("eco", False) not in {(m["text"], m["fromMe"]) for m in as_phone(f"{customer}/messages")["data"]}:
        assert time.monotonic() < end, "nothing was echoed"
        as_phone(f"{customer}/messages", {"to": GATEWAY["instanceNumber"], "type": "text", "text": "eco"})
        time.sleep(0.05)


def test_receive(run: Any, recado: Recado) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    secret, url = "a secret of mine", f"http://127.0.0.1:{port}"
    receiver = run("receive", PORT=str(port), WEBHOOK_SECRET=secret)
    refused = httpx.Client(transport=httpx.HTTPTransport(retries=10)).post(url, content=b"{}")
    assert refused.status_code == 401
    webhook = recado.create_webhook(instance_id=INSTANCE, url=url, secret=secret, events=["message.received"])
    as_phone("5511988887766/messages", {"to": GATEWAY["instanceNumber"], "type": "text", "text": "Bom dia"})
    assert receiver.stdout.readline().endswith("Bom dia\n")
    recado.delete_webhook(instance_id=INSTANCE, webhook_id=webhook.id)
