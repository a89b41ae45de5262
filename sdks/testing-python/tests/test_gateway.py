"""The package that check.sh has installed, with the program in RECADO_BIN."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "examples"))

from bot import Bot  # noqa: E402
from pytest_recado import Gateway, Phone, StartError  # noqa: E402

PROGRAM = os.environ["RECADO_BIN"]


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


def until(condition: Callable[[], bool], what: str) -> None:
    """Waits for a condition, for 30 seconds at most."""
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def test_readme_shows_the_examples_as_they_are() -> None:
    shown = re.findall(r"```python\n(.*?)```", (HERE.parent / "README.md").read_text("utf-8"), re.DOTALL)
    assert shown == [(HERE.parent / "examples" / name).read_text("utf-8") for name in ("bot.py", "test_bot.py")]


def test_how_fast_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    starts, ways = [], []
    for _ in range(3):
        before = time.monotonic()
        with Gateway():
            starts.append(time.monotonic() - before)
    with Gateway() as gateway, Bot(gateway.base_url, gateway.api_key) as bot:
        threading.Thread(target=bot.serve_forever).start()
        bot.register(gateway.instance_id)
        phone = gateway.phone()
        for n in range(20):
            before = time.monotonic()
            phone.send(str(n))
            assert phone.wait_for_message()["text"] == str(n)
            ways.append(time.monotonic() - before)
        bot.shutdown()
    start, way = statistics.median(starts), statistics.median(ways)
    with capsys.disabled():
        print(f"\nMeasured: ready after {start * 1000:.0f} ms; phone, bot and back in {way * 1000:.0f} ms (medians)")
    assert start < 5 and way < 1  # many times what it takes, for machines that do much else


def test_fixtures(recado_gateway: Gateway, recado_phone: Phone) -> None:
    assert recado_gateway.instance_id
    assert recado_phone.messages() == []
    assert recado_gateway.phone().number != recado_phone.number


def test_phone_waits_for_what_it_has_not_seen(recado_gateway: Gateway, recado_phone: Phone) -> None:
    other = recado_gateway.phone("5511988887766")
    message_id = recado_phone.send("Oi", to=other.number)
    recado_phone.send(type="text", text="Tudo bem?", to=other.number)
    first = other.wait_for_message()
    assert (first["text"], first["fromMe"], first["type"]) == ("Oi", False, "text")
    assert other.wait_for_message(lambda message: message["text"].startswith("Tudo"))["text"] == "Tudo bem?"
    assert recado_phone.messages()[0]["messageId"] == message_id
    with pytest.raises(TimeoutError, match=r'within 0.05 seconds. All that it has received: "Oi", "Tudo bem\?".$'):
        other.wait_for_message(timeout=0.05)
    with pytest.raises(TimeoutError, match="received: nothing.$"):
        recado_phone.wait_for_message(timeout=0)  # its own do not count


def test_sandbox_says_why_it_refuses_a_message(recado_phone: Phone) -> None:
    with pytest.raises(ValueError, match="was refused: to: "):
        recado_phone.send("x", to="5511000000000")


def test_gateways_are_apart_and_leave_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("RECADO_EMPTY", "true")
    with Gateway() as one, Gateway() as two:
        assert one.base_url != two.base_url
        assert one.instance_id
        assert len(list(tmp_path.iterdir())) == 2
        one.phone("5511988887766").send("Oi")
        assert two.phone("5511988887766").messages() == []
        one.stop()
    assert list(tmp_path.iterdir()) == []
    assert not answers(one.base_url)
    with pytest.raises(ConnectionError, match="(?s)does not answer. The end of its log:\n.*level="):
        one.phone().messages()


@pytest.mark.parametrize("how", ["ends", "is killed"])
def test_gateway_ends_when_its_program(how: str, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, str(HERE / "forgetful.py"), how],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as forgetful:
        assert forgetful.stdout
        address = forgetful.stdout.readline().strip()
        assert address.startswith("http")
        if how == "is killed":
            assert answers(address)
            forgetful.kill()
        until(lambda: not answers(address), "the gateway still answers")
        until(lambda: not list(tmp_path.iterdir()), "its folder is still there")


def test_program_is_the_one_in_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "recado").symlink_to(PROGRAM)
    monkeypatch.delenv("RECADO_BIN")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with Gateway() as gateway:
        assert answers(gateway.base_url)


def test_what_can_not_start_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(StartError, match="^/nowhere/recado dev .* did not start: it ended with 127\n.*not found"):
        Gateway(program="/nowhere/recado")
    with pytest.raises(StartError, match="did not start: it ended with 1\n.*unrecognized option"):
        Gateway(program="/bin/cat")
    with pytest.raises(StartError, match="it was not ready within 0.001 seconds"):
        Gateway(timeout=0.001)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.delenv("RECADO_BIN")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(StartError, match="There is no program `recado`: put it in PATH"):
        Gateway()
