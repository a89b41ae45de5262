// The examples, which check.sh has compiled beside the package, run as they are shown in the README.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { Recado } from 'recado';
import { asPhone, gateway } from './gateway.js';

const { apiKey, baseUrl, instanceId, instanceNumber } = gateway;
const recado = new Recado({ baseUrl, apiKey });
const source = process.env.RECADO_PACKAGE ?? '';

/** run starts an example, with the variables that it reads, and returns what it prints, line by line. */
function run(t, name, variables = {}) {
  const started = spawn(process.execPath, [`examples/${name}.js`], {
    env: { PATH: process.env.PATH, RECADO_URL: baseUrl, RECADO_API_KEY: apiKey, ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => started.kill());
  started.stdout.setEncoding('utf8');
  return started;
}

/** freePort returns a port that nobody listens on. */
async function freePort() {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

/** until asks until the answer is one. */
async function until(ask) {
  for (;;) {
    const answer = await ask().catch(() => undefined);
    if (answer) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('the README shows the examples as they are', () => {
  const shown = [...readFileSync(`${source}/README.md`, 'utf8').matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code);
  const names = readdirSync(`${source}/examples`).filter((name) => name !== 'guide.ts');
  const files = names.map((name) => readFileSync(`${source}/examples/${name}`, 'utf8'));
  assert(files.length > 0);
  assert.deepEqual(shown.sort(), files.sort());
});

test('send', async (t) => {
  const [messageId] = await once(run(t, 'send').stdout, 'data');
  const message = await recado.getMessage({ instanceId, messageId: messageId.trim() });
  assert.equal(message.text, 'Oi!');
});

test('echo', async (t) => {
  run(t, 'echo');
  const customer = '5511977776655';
  const listed = () => asPhone(`${customer}/messages`);
  // It echoes what comes from now on, so the customer writes until it does.
  const echoed = await until(async () => {
    await asPhone(`${customer}/messages`, { to: instanceNumber, type: 'text', text: 'eco' });
    return (await listed()).data.find(({ fromMe, text }) => !fromMe && text === 'eco');
  });
  assert(echoed);
});

test('receive', async (t) => {
  const [PORT, secret] = [String(await freePort()), 'a secret of mine'];
  const received = run(t, 'receive', { PORT, WEBHOOK_SECRET: secret });
  const url = `http://127.0.0.1:${PORT}`;
  await until(() => fetch(url, { method: 'POST' }));
  const { id: webhookId } = await recado.createWebhook({ instanceId, url, secret, events: ['message.received'] });
  await asPhone('5511988887766/messages', { to: instanceNumber, type: 'text', text: 'Bom dia' });
  const [line] = await once(received.stdout, 'data');
  assert.match(line, /Bom dia\n/);
  await recado.deleteWebhook({ instanceId, webhookId });
});
