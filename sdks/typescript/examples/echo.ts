import { items, Recado } from 'recado';

const recado = new Recado();
for await (const { instanceId, name } of items((page) => recado.listInstances({ page }))) {
  if (name !== 'demo') continue;
  for await (const event of recado.streamEvents({ instanceId, types: ['message.received'] })) {
    if (event.type !== 'message.received' || !event.data.text) continue;
    await recado.sendText({ instanceId, to: event.data.chat, message: event.data.text });
  }
}
