"""Answers customers until one writes "atendente". Then it marks the chat for the people of the shop, with a label and
as unread, and keeps silent there until they take the label off on the phone. The label is what it remembers, so it may
be restarted.

    python human-handover.py
"""

from recado import Recado
from recado.types import LabelAssignedEvent, MessageReceivedEvent

LABEL = "Aguardando atendente"

with Recado() as recado:  # RECADO_URL and RECADO_API_KEY
    instance_id = recado.list_instances().data[0].instance_id
    label = next((found for found in recado.labels(instance_id=instance_id) if found.name == LABEL), None)
    if label is None:
        label = recado.create_label(instance_id=instance_id, name=LABEL)
    waiting = {listed.chat for listed in recado.chats(instance_id=instance_id, label=label.label_id)}

    for event in recado.stream_events(instance_id=instance_id, types=["message.received", "label.assigned"]):
        if isinstance(event, LabelAssignedEvent):
            if event.data.label_id == label.label_id and event.data.message_id is None:
                (waiting.add if event.data.assigned else waiting.discard)(event.data.chat)
        elif isinstance(event, MessageReceivedEvent) and event.data.text and not event.data.is_group:
            chat = event.data.chat
            if chat in waiting:
                continue
            answer = 'Oi! Sou o assistente da loja. Para falar com uma pessoa, escreva "atendente".'
            if event.data.text.strip().lower() == "atendente":
                answer = "Certo! Uma pessoa vai responder aqui em breve."
                recado.label_chat(instance_id=instance_id, chat_id=chat, label_id=label.label_id)
                recado.change_chat(instance_id=instance_id, chat_id=chat, read=False)
                waiting.add(chat)
            recado.send_text(instance_id=instance_id, to=chat, message=answer)
