from recado import Recado

with Recado() as recado:  # RECADO_URL and RECADO_API_KEY
    instance_id = recado.list_instances().data[0].instance_id
    sent = recado.send_text(instance_id=instance_id, to="5511988887766", message="Oi!")
    print(sent.message_id)
