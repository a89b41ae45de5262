import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from recado import WebhookError, verify_webhook
from recado.types import MessageReceivedEvent

secret = os.environ.get("WEBHOOK_SECRET", "")


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            event = verify_webhook(secret, self.headers, body)
        except WebhookError as error:
            self.send_error(401, str(error))
            return
        if isinstance(event, MessageReceivedEvent) and event.data.from_:
            print(event.data.from_.name, event.data.text, flush=True)
        self.send_response(204)
        self.end_headers()


ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Receiver).serve_forever()
