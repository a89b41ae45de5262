"""Receives webhooks, and accepts only requests that the gateway has signed."""

import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE = 5 * 60  # seconds; an older request may have been recorded and sent again
MAX_BODY = 4 << 20


def key_of(secret):
    """Decodes whsec_ and base64; any other secret is its own key."""
    if secret.startswith("whsec_"):
        encoded = secret.removeprefix("whsec_")
        try:
            key = base64.b64decode(encoded, validate=True)
        except ValueError:  # not base64
            key = b""
        if key and base64.b64encode(key).decode() == encoded:
            return key
    return secret.encode()


def signed(key, headers, body):
    """Whether one of the signatures is right. For a day after the secret has
    changed, there are two."""
    event_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not event_id or not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > TOLERANCE:
        return False
    content = f"{event_id}.{timestamp}.".encode() + body
    want = b"v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest())
    return any(
        hmac.compare_digest(signature.encode(), want)  # takes equally long, right or wrong
        for signature in headers.get("webhook-signature", "").split(" ")
    )


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keeps connections open

    def do_POST(self):
        length = int(self.headers.get("content-length", 0))
        if length > MAX_BODY:
            self.close_connection = True  # the body is not read
            self.answer(413)
            return
        body = self.rfile.read(length)  # the raw bytes: they are what is signed
        if not signed(KEY, self.headers, body):
            self.answer(401)
            return
        event = json.loads(body)
        # Here: drop the event if you have seen its webhook-id before, put it into
        # your queue, and only then answer. Do the slow work later.
        print(event["type"], flush=True)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        if status != 204:
            self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    KEY = key_of(os.environ["WEBHOOK_SECRET"])
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Receiver)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
