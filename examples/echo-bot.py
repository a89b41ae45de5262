"""Answers every text of a person with the same text, as an answer to it. Groups are left alone.

    python echo-bot.py
"""

from recado import Recado
from recado.types import MessageReceivedEvent

with Recado() as recado:  # RECADO_URL and RECADO_API_KEY
    instance_id = recado.list_instances().data[0].instance_id
    for event in recado.stream_events(instance_id=instance_id, types=["message.received"]):
        if not isinstance(event, MessageReceivedEvent) or event.data.is_group or not event.data.text:
            continue
        recado.send_text(
            instance_id=instance_id,
            to=event.data.chat,
            message=event.data.text,
            quote_message_id=event.data.message_id,
        )
