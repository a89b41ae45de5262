"""What tests use: a gateway and its phones."""

from __future__ import annotations

import itertools
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from typing import Any

from ._program import Program

# This machine is asked directly, whatever proxy the environment names.
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Gateway:
    """A gateway of its own, with simulated phones, and with one instance that is linked to one of them.

    It has a port and a folder of its own. Making one waits until everything answers, for `timeout` seconds at most, and raises a
    StartError if it can't be started. `program` is the program `recado`: by default what RECADO_BIN names, or the one in PATH. If
    there is none, Docker runs `image`: by default what RECADO_IMAGE names, or `recado`.
    """

    def __init__(self, *, program: str | None = None, image: str | None = None, timeout: float = 60) -> None:
        self._program = Program(program, image, timeout)
        ready = self._program.ready
        self.base_url: str = ready["baseUrl"]
        self.api_key: str = ready["apiKey"]
        self.instance_id: str = ready["instanceId"]
        self.instance_number: str = ready["instanceNumber"]
        self._unused = itertools.count()

    def phone(self, number: str | None = None) -> Phone:
        """Returns the phone with a number, or one that nobody has used yet."""
        if number is None:
            # Last digits that choose no special behaviour of the sandbox.
            high, low = divmod(next(self._unused), 4000)
            number = f"551197{700 + high}{1000 + 2 * low}"
        return Phone(self, number)

    @property
    def log(self) -> str:
        """The end of the gateway's log."""
        return self._program.log

    def stop(self) -> None:
        """Ends the gateway, and removes what it has stored. It may be called several times."""
        self._program.stop()

    def __enter__(self) -> Gateway:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()


class Phone:
    """A simulated phone. Numbers that end in 0000 to 0003 behave in a special way: docs/sandbox.md, "Phones"."""

    def __init__(self, gateway: Gateway, number: str) -> None:
        self._gateway = gateway
        self.number = number
        self._passed: set[str] = set()

    def send(self, text: str | None = None, **content: Any) -> str:
        """Sends a text to the gateway's instance, or another content to anybody, and returns the message's ID.

        `content` are the fields of the sandbox's request: docs/sandbox.md, "Messages of phones".
        """
        message = {"to": self._gateway.instance_number, "type": "text", **content}
        if text is not None:
            message["text"] = text
        answer: str = self._ask(message)["messageId"]
        return answer

    def messages(self) -> list[dict[str, Any]]:
        """Returns the messages that the phone shows, oldest first, its own (`fromMe`) among them."""
        answer: list[dict[str, Any]] = self._ask()["data"]
        return answer

    def wait_for_message(
        self, predicate: Callable[[dict[str, Any]], object] = lambda message: True, *, timeout: float = 5
    ) -> dict[str, Any]:
        """Returns the first message received that the predicate accepts.

        Each call goes on behind the message that the last one returned, so that an answer is not taken for the next one. Raises a
        TimeoutError after `timeout` seconds, with what the phone has received.
        """
        end = time.monotonic() + timeout
        while True:
            received = [message for message in self.messages() if not message["fromMe"]]
            for at, message in enumerate(received):
                if message["messageId"] not in self._passed and predicate(message):
                    self._passed.update(passed["messageId"] for passed in received[: at + 1])
                    return message
            if time.monotonic() >= end:
                has = ", ".join(
                    json.dumps(m["text"], ensure_ascii=False) if m["text"] else f"({m['type']})" for m in received
                )
                raise TimeoutError(
                    f"{self.number} received no such message within {timeout:g} seconds. "
                    f"All that it has received: {has or 'nothing'}."
                )
            time.sleep(0.01)

    def _ask(self, body: dict[str, Any] | None = None) -> Any:
        """Asks the sandbox about the phone's messages, or posts one."""
        number = urllib.parse.quote(self.number, safe="")
        request = urllib.request.Request(
            f"{self._gateway.base_url}/sandbox/api/phones/{number}/messages",
            data=None if body is None else json.dumps(body).encode(),
            headers={"content-type": "application/json"},
        )
        try:
            with _opener.open(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refusal:
            with refusal:
                why = json.load(refusal)["message"]
            raise ValueError(f"The phone {self.number} was refused: {why}") from None
        except OSError as error:
            raise ConnectionError(
                f"The gateway at {self._gateway.base_url} does not answer. The end of its log:\n{self._gateway.log}"
            ) from error
