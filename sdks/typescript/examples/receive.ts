import { createServer } from 'node:http';
import { verifyWebhook, WebhookError } from 'recado';

const secret = process.env.WEBHOOK_SECRET ?? '';

createServer(async (request, response) => {
  const body: Uint8Array[] = [];
  for await (const piece of request) body.push(piece);
  try {
    const event = await verifyWebhook(secret, request.headers, Buffer.concat(body));
    if (event.type === 'message.received') console.log(event.data.from?.name, event.data.text);
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(error instanceof WebhookError ? 401 : 500).end();
  }
}).listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
