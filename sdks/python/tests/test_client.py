"""The package, used as its users do, against a gateway with its sandbox; both kinds of clients."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import io
import json
import queue
import socket
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import httpx
import pytest
from conftest import GATEWAY, Cable, as_phone, reply

import recado as package
from recado import (
    ConnectionError,
    NotFoundError,
    Recado,
    RecadoError,
    UnauthorizedError,
    UnavailableError,
    ValidationError,
    WebhookError,
    verify_webhook,
)
from recado.types import UNSET, BudgetChange, Card, Event, MessageReceivedEvent, WebhookTestEvent

BASE_URL, API_KEY, INSTANCE = GATEWAY["baseUrl"], GATEWAY["apiKey"], GATEWAY["instanceId"]
CUSTOMER = "5511988887766"


def test_exported_names_are_there() -> None:
    for name in package.__all__:
        assert getattr(package, name).__module__.startswith("recado._")


def test_address_and_key_come_from_the_environment(connect: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RECADO_URL", raising=False)
    monkeypatch.delenv("RECADO_API_KEY", raising=False)
    with pytest.raises(ValueError, match="RECADO_API_KEY"):
        connect()
    with pytest.raises(ValueError, match="'nowhere' is no address"):
        connect("nowhere", API_KEY)
    with pytest.raises(ValueError, match="end of a line") as refused:
        connect(BASE_URL, API_KEY + "\n")
    assert API_KEY not in str(refused.value)
    monkeypatch.setenv("RECADO_URL", BASE_URL + "/")
    monkeypatch.setenv("RECADO_API_KEY", API_KEY)
    assert connect().get_instance(instance_id=INSTANCE).instance_id == INSTANCE


def test_text_is_on_the_phone_and_is_sent_once_with_the_same_key(recado: Any) -> None:
    key = f"order {time.time_ns()}"
    text = dict(instance_id=INSTANCE, to=CUSTOMER, message="Oi, açaí!", idempotency_key=key)
    sent = recado.send_text(**text)
    assert (sent.idempotency_replayed, sent.accepted) == (False, False)
    again = recado.send_text(**text)
    assert (again.message_id, again.idempotency_replayed) == (sent.message_id, True)
    message = recado.get_message(instance_id=INSTANCE, message_id=sent.message_id)
    assert message.text == "Oi, açaí!"
    assert abs(datetime.now(timezone.utc) - message.timestamp) < timedelta(minutes=5)


def test_objects_in_a_request_and_times(recado: Any) -> None:
    later = datetime.now(timezone.utc) + timedelta(hours=1)
    card = Card(full_name="Ana", phone_number=CUSTOMER)
    sent = recado.send_contact(instance_id=INSTANCE, to=CUSTOMER, contact=card, send_at=later)
    assert sent.accepted
    waiting = {message.message_id for message in recado.queue(instance_id=INSTANCE)}
    assert sent.message_id in waiting
    recado.cancel_queued_message(instance_id=INSTANCE, message_id=sent.message_id)


def test_none_is_null_where_a_field_may_be_null(connect: Any, serve: Any) -> None:
    bodies = []

    def answer(request: Any, body: bytes) -> None:
        bodies.append(json.loads(body))
        reply(request, 200, "{}")

    recado = connect(serve(answer), API_KEY)
    recado.change_instance(instance_id=INSTANCE, name=None)
    recado.change_instance(instance_id=INSTANCE, number_checks=BudgetChange(per_day=None))
    recado.change_instance(
        instance_id=INSTANCE, external_name=None, number_checks=BudgetChange(per_day=UNSET, per_hour=3)
    )
    assert bodies == [
        {},
        {"numberChecks": {"perDay": None}},
        {"externalName": None, "numberChecks": {"perHour": 3}},
    ]


def test_time_without_a_zone_is_local(connect: Any, serve: Any) -> None:
    bodies = []

    def answer(request: Any, body: bytes) -> None:
        bodies.append(json.loads(body))
        reply(request, 202, '{"messageId":"3EB0"}')

    at = datetime(2030, 1, 2, 3, 4, 5)
    connect(serve(answer), API_KEY).send_text(instance_id=INSTANCE, to=CUSTOMER, message="x", send_at=at)
    sent = datetime.fromisoformat(bodies[0]["sendAt"])
    assert sent.tzinfo is not None and sent == at.astimezone()


def test_refusal_is_an_error_with_its_code_and_its_fields(connect: Any, recado: Any) -> None:
    with pytest.raises(UnauthorizedError) as refused:
        connect(BASE_URL, "rcd_wrong").list_instances()
    error = refused.value
    assert isinstance(error, RecadoError)
    assert (error.status_code, error.code, error.path) == (401, "UNAUTHORIZED", "/api/instances")
    assert error.request_id and str(error).startswith("401 UNAUTHORIZED: ")
    with pytest.raises(ValidationError) as wrong:
        recado.send_text(instance_id=INSTANCE, to="", message="x")
    assert [detail.field for detail in wrong.value.details] == ["to"]
    with pytest.raises(NotFoundError):
        recado.get_message(instance_id=INSTANCE, message_id="3EB0")
    with pytest.raises(ValueError, match="'..' is no identifier"):
        recado.get_instance(instance_id="..")


def test_answer_of_something_else_is_an_error(connect: Any, serve: Any) -> None:
    statuses = iter([200, 502])
    recado = connect(serve(lambda request, _: reply(request, next(statuses), "<html>")), API_KEY, retries=0)
    with pytest.raises(RecadoError) as odd:
        recado.list_instances()
    assert (odd.value.status_code, odd.value.code, odd.value.request_id) == (200, "", None)
    with pytest.raises(UnavailableError, match="502: Bad Gateway"):
        recado.list_instances()


def test_what_fails_for_now_is_made_again_if_that_does_nothing_twice(connect: Any, serve: Any) -> None:
    requests = []

    def answer(request: Any, _: bytes) -> None:
        requests.append(request.headers["idempotency-key"])
        if len(requests) % 3 == 0:
            reply(request, 200, '{"messageId":"3EB0","new":1}')
        else:
            reply(request, 503, '{"statusCode":503,"error":"UNAVAILABLE","message":"starting"}', retry_after="0")

    url = serve(answer)
    patient = connect(url, API_KEY)
    assert patient.send_text(instance_id=INSTANCE, to=CUSTOMER, message="x").message_id == "3EB0"
    assert len(requests) == 3
    assert len(set(requests)) == 1 and len(requests[0]) == 36

    # Two instances may come of two requests, so this one is made once.
    with pytest.raises(UnavailableError) as refused:
        patient.create_instance(name="shop")
    assert (len(requests), refused.value.retry_after) == (4, 0)
    with pytest.raises(UnavailableError):
        connect(url, API_KEY, retries=0).list_instances()
    assert len(requests) == 5


def test_what_was_refused_or_cut_before_it_was_done_is_made_again(connect: Any, serve: Any) -> None:
    requests = []

    def answer(request: Any, _: bytes) -> None:
        requests.append(request.path)
        if len(requests) == 1:
            reply(request, 429, '{"error":"RATE_LIMITED"}', retry_after="1")
        elif len(requests) == 3:
            request.close_connection = True
            request.connection.shutdown(socket.SHUT_RDWR)
        else:
            reply(request, 200, '{"instanceId":"01a1"}')

    patient = connect(serve(answer), API_KEY)
    began = time.monotonic()
    patient.create_instance(name="shop")
    assert time.monotonic() - began >= 1
    assert patient.get_instance(instance_id=INSTANCE).instance_id == "01a1"
    assert len(requests) == 4


def test_too_long_a_pause_is_the_callers(connect: Any, serve: Any) -> None:
    url = serve(lambda request, _: reply(request, 429, '{"error":"RATE_LIMITED"}', retry_after="61"))
    with pytest.raises(package.RateLimitedError) as refused:
        connect(url, API_KEY).list_instances()
    assert refused.value.retry_after == 61


def test_gateway_that_is_away_is_an_error_of_its_own(connect: Any, cable: Cable) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ConnectionError, match="no answer in time"):
            connect(url, API_KEY, retries=0, timeout=0.05).list_instances()
    cable.close()
    with pytest.raises(OSError, match=f"the gateway at {cable.url} can't be reached: .+"):
        connect(cable.url, API_KEY, retries=0).list_instances()


def test_list_is_one_sequence(connect: Any, recado: Any) -> None:
    partner = connect(BASE_URL, GATEWAY["partnerKey"])
    made = [partner.create_instance(name=f"shop {number}") for number in range(3)]
    first = recado.list_instances(limit=1)
    assert (len(first.data), first.is_last_page, first.current_page) == (1, False, 1)
    listed = [instance.instance_id for instance in recado.instances()]
    assert listed[0] == INSTANCE and set(listed) >= {instance.instance_id for instance in made}
    assert len(listed) == len(set(listed)) == first.total_count
    for instance in made:
        partner.delete_instance(instance_id=instance.instance_id)


def test_all_pages_are_fetched(connect: Any, serve: Any) -> None:
    def answer(request: Any, _: bytes) -> None:
        page = int(httpx.URL(request.path).params["page"])
        reply(request, 200, json.dumps({"data": [{"name": f"shop {page}"}], "isLastPage": page == 3}))

    listed = [instance.name for instance in connect(serve(answer), API_KEY).instances(external_name="açaí")]
    assert listed == ["shop 1", "shop 2", "shop 3"]


def test_events_go_on_where_a_cut_stream_was_without_a_gap(connect: Any, cable: Cable) -> None:
    run = time.time_ns()
    texts = [f"{text} {run}" for text in ("um", "dois", "três")]
    seen: list[str] = []

    def write(text: str) -> None:
        as_phone(f"{CUSTOMER}/messages", {"to": GATEWAY["instanceNumber"], "type": "text", "text": text})

    write(texts[0])
    events = connect(cable.url, API_KEY).stream_events(instance_id=INSTANCE, after=0, types=["message.received"])
    for event in events:
        assert isinstance(event, MessageReceivedEvent)
        if event.data.text not in texts:
            continue  # another test's
        seen.append(event.data.text)
        if seen == texts:
            break
        cable.cut()
        write(texts[len(seen)])
    events.close()
    assert seen == texts


def test_silent_connection_is_given_up_and_the_next_begins_after_what_it_has_said(connect: Any, serve: Any) -> None:
    requests: list[tuple[str, str | None]] = []
    ended: queue.Queue[None] = queue.Queue()

    def answer(request: Any, _: bytes) -> None:
        requests.append((request.path, request.headers["last-event-id"]))
        request.send_response(200)
        request.send_header("content-type", "text/event-stream")
        request.end_headers()
        if len(requests) == 1:
            request.wfile.write(b"retry: 1\nid: 7\n\n")  # there were events of other types
        else:
            event = 'id: 8\r\ndata: {"type":"new.kind","data":{"text":"açaí: um"}}\r\n\r\n'.encode()
            inside = event.index("ç".encode()) + 1
            request.wfile.write(event[:inside])
            request.wfile.write(event[inside:])
        ended.get()

    stream = connect(serve(answer), API_KEY).stream_events(instance_id=INSTANCE, types=["a", "b"], silence=0.2)
    event = next(stream)
    stream.close()
    for _ in requests:
        ended.put(None)
    assert type(event) is Event and event.data == {"text": "açaí: um"}
    path = f"/api/instances/{INSTANCE}/events?types=a%2Cb"
    assert requests == [(path, None), (path, "7")]


def test_stream_ends_with_an_error_that_stays(recado: Any) -> None:
    with pytest.raises(NotFoundError):
        next(recado.stream_events(instance_id="01a1fa84-de19-7bc8-9e51-c104e24cd85b"))


def test_event_has_a_bound(connect: Any, serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recado._stream.LONGEST_EVENT", 1000)

    def answer(request: Any, _: bytes) -> None:
        reply(request, 200, "data: x\n" * 100 + "data: " + "x" * 1000, content_type="text/event-stream")

    with pytest.raises(ValueError, match="longer than 1000 bytes"):
        next(connect(serve(answer), API_KEY).stream_events(instance_id=INSTANCE))


def test_delivery_is_verified_and_nothing_that_was_changed(recado: Any, serve: Any) -> None:
    deliveries: queue.Queue[Any] = queue.Queue()

    def answer(request: Any, body: bytes) -> None:
        deliveries.put((request.headers, body))
        reply(request, 200, "")

    secret = "whsec_" + base64.b64encode(bytes([7]) * 24).decode()
    webhook = recado.create_webhook(instance_id=INSTANCE, url=serve(answer), secret=secret)
    recado.test_webhook(instance_id=INSTANCE, webhook_id=webhook.id)
    headers, body = deliveries.get(timeout=30)
    event = verify_webhook(["another", secret], headers, body)
    assert isinstance(event, WebhookTestEvent) and event.instance_id == INSTANCE
    assert verify_webhook(secret, dict(headers.items()), body.decode()) == event
    now = datetime.now(timezone.utc)
    late, early = now + timedelta(seconds=301), now - timedelta(seconds=301)
    changed: list[tuple[Any, Any, bytes, datetime]] = [
        ("another", headers, body, now),
        (["", "another"], headers, body, now),
        (secret, headers, body + b" ", now),
        (secret, {}, body, now),
        (secret, {**headers, "webhook-timestamp": "9" * 5000}, body, now),
        (secret, headers, body, late),
        (secret, headers, body, early),
    ]
    for given, said, content, moment in changed:
        with pytest.raises(WebhookError):
            verify_webhook(given, said, content, now=moment)
    recado.delete_webhook(instance_id=INSTANCE, webhook_id=webhook.id)


@pytest.mark.parametrize("secret", ["açaí", "whsec_not base64"])
def test_secret_that_is_no_base64_is_used_as_it_is(secret: str) -> None:
    timestamp = str(int(time.time()))
    digest = hmac.new(secret.encode(), f"id.{timestamp}.{{}}".encode(), hashlib.sha256).digest()
    signature = base64.b64encode(digest).decode()
    headers = {"Webhook-Id": "id", "webhook-timestamp": timestamp, "webhook-signature": f"v1,x v1,{signature}"}
    assert verify_webhook(secret, headers, "{}").id is None


class Photo(io.BytesIO):
    """A file that counts how much of it is read at once."""

    name = "/pictures/photo.png"
    longest = 0

    def read(self, size: int | None = -1, /) -> bytes:
        piece = super().read(size)
        self.longest = max(self.longest, len(piece))
        return piece


def test_file_is_uploaded_as_it_is_read_and_sent(recado: Any, tmp_path: Any) -> None:
    photo = httpx.get(f"{BASE_URL}/sandbox/files/photo.png").content
    path = tmp_path / "photo.png"
    path.write_bytes(photo)
    large = Photo(photo + bytes(300_000))

    def pieces() -> Iterator[bytes]:
        for at in range(0, len(photo), 1000):
            yield photo[at : at + 1000]
            yield b""

    for file in (pieces(), path, str(path), Photo(photo), photo):
        upload = recado.upload(file, file_name='my "photo".png')
        assert upload.size == len(photo)
    sent = recado.send_image(instance_id=INSTANCE, to=CUSTOMER, image=f"upload:{upload.id}")
    assert sent.message_id
    assert recado.upload(large).size == len(photo) + 300_000
    assert 0 < large.longest <= 65536
    with pytest.raises(ValidationError):
        recado.upload([])
    with pytest.raises(TypeError, match="binary mode"):
        recado.upload(io.StringIO("text"))


def test_upload_of_what_is_read_asynchronously() -> None:
    async def pieces() -> Any:
        yield b"a"
        yield b"bc"

    async def upload() -> int:
        async with package.AsyncRecado(BASE_URL, API_KEY) as recado:
            return (await recado.upload(pieces(), file_name="abc.txt")).size

    assert asyncio.run(upload()) == 3
    with Recado(BASE_URL, API_KEY) as recado, pytest.raises(TypeError, match="AsyncRecado"):
        recado.upload(pieces())
