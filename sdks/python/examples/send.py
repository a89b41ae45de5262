from recado import Recado

with Recado() as recado:  # RECADO_URL and RECADO_API_KEY
    instance = recado.list_instances().data[0]
    sent = recado.send_text(instance_id=instance.instance_id, to="5511988887766", message="Oi!")
    print(sent.message_id)
