// Answers "pedido 17" with the status of that order.
//
//     node order-status.js
import { Recado } from 'recado';

// Your database would be here.
const orders = new Map([
  ['17', 'saiu para entrega'],
  ['18', 'está sendo preparado'],
]);

const recado = new Recado(); // RECADO_URL and RECADO_API_KEY
const { data: instances } = await recado.listInstances();
const { instanceId } = instances[0];

for await (const event of recado.streamEvents({ instanceId, types: ['message.received'] })) {
  if (event.type !== 'message.received' || event.data.isGroup) continue;
  const number = /^\s*pedido\s+(\d+)\s*$/i.exec(event.data.text ?? '')?.[1];
  if (!number) continue;
  const { chat } = event.data;
  const status = orders.get(number);
  await recado.sendText({
    instanceId,
    to: chat,
    message: status ? `O pedido ${number} ${status}.` : `Não encontrei o pedido ${number}.`,
    // Within a day, a customer who asks five times is told once, until the status changes. The key is for the whole
    // instance, so it names the chat too.
    'Idempotency-Key': `order ${number} ${status ?? 'unknown'} ${chat}`,
  });
}
