from recado import Recado
from recado.types import MessageReceivedEvent

with Recado() as recado:
    demo = next(instance for instance in recado.instances() if instance.name == "demo")
    for event in recado.stream_events(instance_id=demo.instance_id, types=["message.received"]):
        if isinstance(event, MessageReceivedEvent) and event.data.text:
            recado.send_text(instance_id=demo.instance_id, to=event.data.chat, message=event.data.text)
