import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.request import Request, urlopen


def call(address: str, api_key: str, body: dict[str, Any]) -> None:
    headers = {"x-api-key": api_key, "content-type": "application/json"}
    with urlopen(Request(address, json.dumps(body).encode(), headers), timeout=30):
        pass


class Bot(ThreadingHTTPServer):
    """A bot: the endpoint of a webhook, which answers every text with the same text."""

    daemon_threads = True

    def __init__(self, base_url: str, api_key: str) -> None:
        self.base_url, self.api_key = base_url, api_key
        super().__init__(("127.0.0.1", 0), Received)

    def register(self, instance_id: str) -> None:
        """Lets a gateway's instance send it what people write."""
        webhook = {"url": f"http://127.0.0.1:{self.server_port}", "events": ["message.received"]}
        call(f"{self.base_url}/api/instances/{instance_id}/webhooks", self.api_key, webhook)


class Received(BaseHTTPRequestHandler):
    server: Bot

    def do_POST(self) -> None:
        event = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answer = {"to": event["data"]["chat"], "message": event["data"]["text"]}
        call(f"{self.server.base_url}/api/message/{event['instanceId']}/text", self.server.api_key, answer)
        self.send_response(204)
        self.end_headers()
