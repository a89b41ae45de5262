"""Runs every example against a gateway, and looks at what comes to the phones. check.sh has started the gateway and
installed what the programs need."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

PROGRAMS = Path(__file__).parent.parent  # where check.sh has put them together
GATEWAY: dict[str, Any] = json.loads(Path(os.environ["RECADO_READY_FILE"]).read_text("utf-8"))
URL, NUMBER = GATEWAY["baseUrl"], GATEWAY["instanceNumber"]


def until(ask: Callable[[], Any], again: Callable[[], object] = lambda: None) -> Any:
    """Asks until the answer is one, for a minute at most, and does something again before each time."""
    end = time.monotonic() + 60
    while True:
        again()
        if answer := ask():
            return answer
        assert time.monotonic() < end, "it has not come to that"
        time.sleep(0.05)


def sandbox(method: str, path: str, body: object = None) -> Any:
    """Asks the sandbox's control API."""
    answer = httpx.request(method, f"{URL}/sandbox/api/{path}", json=body)
    answer.raise_for_status()
    return answer.json() if answer.content else None


def write(phone: str, text: str) -> None:
    """Lets a phone write to the instance."""
    sandbox("POST", f"phones/{phone}/messages", {"to": NUMBER, "type": "text", "text": text})


def messages(phone: str, chat: str) -> list[dict[str, Any]]:
    """What a phone shows of a chat."""
    shown: list[dict[str, Any]] = sandbox("GET", f"phones/{phone}/messages?chat={chat}")["data"]
    return shown


def received(phone: str, chat: str = NUMBER) -> list[dict[str, Any]]:
    """The messages that others have sent to a phone."""
    return [message for message in messages(phone, chat) if not message["fromMe"]]


def texts(phone: str, chat: str = NUMBER) -> list[str]:
    """The texts of these messages."""
    return [message["text"] for message in received(phone, chat)]


def answers_own(phone: str) -> bool:
    """Whether the first message that came to a phone answers one of its own."""
    own = {message["messageId"] for message in messages(phone, NUMBER) if message["fromMe"]}
    return received(phone)[0]["quotedMessageId"] in own


def file(name: str) -> tuple[str, str]:
    """One of the sandbox's files: its URL and its hash."""
    url = f"{URL}/sandbox/files/{name}"
    return url, hashlib.sha256(httpx.get(url).content).hexdigest()


class Program:
    """A run of an example, in a folder of its own."""

    def __init__(self, example: str, folder: Path, *arguments: str, **variables: str) -> None:
        path = PROGRAMS / example
        command = {
            ".py": [sys.executable, str(path)],
            ".ts": ["node", str(path.with_suffix(".js"))],
            ".php": ["php", str(path)],
            ".go": [str(PROGRAMS / "bin" / path.parent.name)],
        }[path.suffix]
        if "PORT" in variables:  # a page
            command[1:1] = ["-S", f"127.0.0.1:{variables['PORT']}"]
        settings = {"RECADO_URL": URL, "RECADO_API_KEY": GATEWAY["apiKey"], "PYTHONUNBUFFERED": "1", **variables}
        self._printed = folder / "printed"
        with self._printed.open("w") as printed:
            self.process = subprocess.Popen(
                command + list(arguments), cwd=folder, env={**os.environ, **settings}, stdout=printed, stderr=printed
            )

    def printed(self) -> str:
        """What it has printed so far. A program that has failed fails the test."""
        printed = self._printed.read_text("utf-8")
        assert self.process.poll() in (None, 0), printed
        return printed

    def ended(self) -> str:
        """What it has printed when it has ended."""
        self.process.wait(60)
        return self.printed()


Run = Callable[..., Program]


def echo_bot(run: Run, folder: Path) -> None:
    phone = "5511977770006"
    run()
    # It answers what comes from now on, so the customer writes until it does; so do the others below.
    until(lambda: texts(phone), again=lambda: write(phone, "eco"))
    assert texts(phone)[0] == "eco" and answers_own(phone)


def order_status(run: Run, folder: Path) -> None:
    phone, status = "5511977770012", "O pedido 17 saiu para entrega."
    run()
    until(lambda: status in texts(phone), again=lambda: write(phone, "Pedido 17"))
    write(phone, "pedido 17")
    write(phone, "pedido 99")
    until(lambda: "Não encontrei o pedido 99." in texts(phone))
    assert texts(phone).count(status) == 1


def human_handover(run: Run, folder: Path) -> None:
    phone, other = "5511977770022", "5511977770024"
    run()
    until(lambda: texts(phone), again=lambda: write(phone, "Oi"))
    write(phone, "Atendente")
    until(lambda: "Certo! Uma pessoa vai responder aqui em breve." in texts(phone))
    said = len(texts(phone))
    write(phone, "Oi?")
    write(other, "Oi")
    until(lambda: texts(other))  # it reads one message after the other
    assert len(texts(phone)) == said

    [label] = sandbox("GET", f"phones/{NUMBER}/labels")["data"]
    assert (label["name"], len(label["chats"])) == ("Aguardando atendente", 1)
    [chat] = [c for c in sandbox("GET", f"phones/{NUMBER}/chats")["data"] if c["chat"] == label["chats"][0]]
    assert chat["markedUnread"]
    sandbox("DELETE", f"phones/{NUMBER}/chats/{label['chats'][0]}/labels/{label['id']}")
    until(lambda: len(texts(phone)) > said, again=lambda: write(phone, "Obrigada!"))


def media_archive(run: Run, folder: Path) -> None:
    archive = folder / "archive"
    archive.mkdir()
    run(str(archive))
    url, digest = file("invoice.pdf")
    invoice = {"to": NUMBER, "type": "document", "media": url, "fileName": "nota.pdf"}
    until(lambda: list(archive.iterdir()), again=lambda: sandbox("POST", "phones/5511977770032/messages", invoice))
    until(lambda: [path.name for path in archive.iterdir()] == [f"{digest}-nota.pdf"])
    until(lambda: hashlib.sha256((archive / f"{digest}-nota.pdf").read_bytes()).hexdigest() == digest)


def group_announcer(run: Run, folder: Path) -> None:
    owner, text = "5511977770042", "A água volta às 18h."
    groups = {}
    for subject in ("Condomínio A", "Condomínio B", "Futebol"):
        made = {"subject": subject, "owner": owner, "participants": [{"number": NUMBER}]}
        groups[subject] = sandbox("POST", "groups", made)["id"]
    posted = ["Condomínio A", "Condomínio B"]
    until(lambda: sorted(run("condomínio", text).ended().splitlines()) == posted)  # when the gateway has heard of both
    run("condomínio", text).ended()
    until(lambda: all(text in texts(owner, groups[subject]) for subject in posted))
    assert [texts(owner, group) for group in groups.values()] == [[text], [text], []]


def appointment_reminders(run: Run, folder: Path) -> None:
    ana, bruno = "5511977770052", "5511977770054"
    rows = [f"{ana},Ana,2030-05-02T14:30", f"{bruno},Bruno,2030-05-02T15:00", f"{ana},Ana,2030-05-09T14:30"]
    (folder / "appointments.csv").write_text("\n".join(["phone,name,time", *rows]), "utf-8")
    assert run("appointments.csv", "2030-05-02").ended() == f"{ana} is reminded\n{bruno} is reminded\n"
    again = run("appointments.csv", "2030-05-02").ended()
    assert again == f"{ana} was reminded before\n{bruno} was reminded before\n"
    until(lambda: texts(ana) and texts(bruno))
    assert texts(ana) == ["Olá, Ana! Lembrete: você tem horário conosco em 02/05 às 14:30."]


def transcription_hook(run: Run, folder: Path) -> None:
    phone = "5511977770062"
    run("sha256sum")
    url, digest = file("voice.ogg")
    voice = {"to": NUMBER, "type": "voice", "media": url}
    until(lambda: texts(phone), again=lambda: sandbox("POST", f"phones/{phone}/messages", voice))
    assert texts(phone)[0] == f"{digest}  -" and answers_own(phone)


def poll(run: Run, folder: Path) -> None:
    phone = "5511977770072"
    program = run(phone, "Quando entregamos?", "Hoje", "Amanhã")
    message = until(lambda: re.search(r"sent: (\S+)\n", program.printed()))[1]
    until(lambda: message in [m["messageId"] for m in received(phone)])

    def vote(option: str) -> None:
        sandbox("POST", f"phones/{phone}/messages/{message}/vote", {"options": [option]})

    until(lambda: "Hoje: 1  Amanhã: 0" in program.printed(), again=lambda: vote("Hoje"))
    vote("Amanhã")
    until(lambda: "Hoje: 0  Amanhã: 1" in program.printed())


def signup(run: Run, folder: Path) -> None:
    phone = "5511977770082"
    program = run("loja-17", RECADO_API_KEY=GATEWAY["partnerKey"])
    until(lambda: "scan: qr.png" in program.printed())
    picture = base64.b64encode((folder / "qr.png").read_bytes()).decode()
    sandbox("POST", f"phones/{phone}/scan", {"qrCode": f"data:image/png;base64,{picture}"})
    printed = program.ended()
    assert printed.endswith(f"linked: {phone}\n")
    key = printed.split("\n")[0].removeprefix("key: ")
    mine = httpx.get(f"{URL}/api/instances", headers={"x-api-key": key}).json()["data"]
    assert [(i["externalName"], i["messengerId"]) for i in mine] == [("loja-17", phone)]


def embed(run: Run, folder: Path) -> None:
    phone = "5511977770092"
    made = {"name": "Loja & Cia", "externalName": "loja-18"}
    partner = {"x-api-key": GATEWAY["partnerKey"]}
    httpx.post(f"{URL}/api/partner/instances", headers=partner, json=made).raise_for_status()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    program = run(PORT=port, EXTERNAL_NAME="loja-18")
    until(lambda: "started" in program.printed())

    def page() -> str:
        return httpx.get(f"http://127.0.0.1:{port}/", timeout=30).text

    code = until(lambda: re.search(r'<img src="([^"]+)"', page()))[1]
    assert "<h1>Loja &amp; Cia</h1>" in page()
    sandbox("POST", f"phones/{phone}/scan", {"qrCode": html.unescape(code)})
    until(lambda: f"Conectado: {phone}" in page())


CHECKS: dict[str, Callable[[Run, Path], None]] = {
    "appointment-reminders.py": appointment_reminders,
    "echo-bot.py": echo_bot,
    "embed.php": embed,
    "group-announcer.php": group_announcer,
    "human-handover.py": human_handover,
    "media-archive/main.go": media_archive,
    "order-status.ts": order_status,
    "poll/main.go": poll,
    "signup.ts": signup,
    "transcription-hook.ts": transcription_hook,
}


@pytest.mark.parametrize("example", CHECKS)
def test_example(example: str, tmp_path: Path) -> None:
    started: list[Program] = []

    def run(*arguments: str, **variables: str) -> Program:
        started.append(Program(example, tmp_path, *arguments, **variables))
        return started[-1]

    try:
        CHECKS[example](run, tmp_path)
    finally:
        for program in started:
            program.process.kill()
            program.process.wait()
        print((tmp_path / "printed").read_text("utf-8"))  # shown if the test fails


def test_every_example_is_run_and_in_the_list() -> None:
    source = Path(os.environ["RECADO_EXAMPLES"])
    beside = {"README.md", "check.sh"}
    files = [path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()]
    examples = {name for name in files if name not in beside and not name.startswith("tests/")}
    assert examples == set(CHECKS)
    assert set(re.findall(r"^\| \[.*?\]\((.*?)\)", (source / "README.md").read_text("utf-8"), re.M)) == examples
