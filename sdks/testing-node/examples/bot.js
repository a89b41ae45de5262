import { createServer } from 'node:http';

/** A bot: the endpoint of a webhook, which answers every text with the same text. */
export function createBot({ baseUrl, apiKey }) {
  return createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const { instanceId, data } = JSON.parse(Buffer.concat(pieces).toString());
    await fetch(`${baseUrl}/api/message/${instanceId}/text`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ to: data.chat, message: data.text }),
    });
    response.writeHead(204).end();
  });
}

/** Starts the bot on a free port, and lets a gateway's instance send it what people write. */
export async function startBot({ baseUrl, apiKey, instanceId }) {
  const bot = createBot({ baseUrl, apiKey });
  await new Promise((resolve) => bot.listen(0, '127.0.0.1', resolve));
  const created = await fetch(`${baseUrl}/api/instances/${instanceId}/webhooks`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ url: `http://127.0.0.1:${bot.address().port}`, events: ['message.received'] }),
  });
  if (!created.ok) throw new Error(await created.text());
  return bot;
}
