// The examples, which check.sh has compiled beside the package, run as they are shown in the README, in each runtime that it names.
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

const runtimes = process.env.RECADO_RUNTIMES ?? '';

/** How each runtime, in the folder of check.sh, is told to run a program. */
const commands = { node: [], bun: ['run'], deno: ['run', '--allow-env', '--allow-net'] };

/** run starts an example, with the variables that it reads, and returns what it prints, line by line. */
function run(t, runtime, name, variables = {}) {
  const started = spawn(`${runtimes}/${runtime}`, [...commands[runtime], `examples/${name}.js`], {
    env: {
      PATH: process.env.PATH,
      DENO_DIR: `${runtimes}/cache`,
      RECADO_URL: baseUrl,
      RECADO_API_KEY: apiKey,
      ...variables,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(started, 'exit');
  t.after(() => started.kill() && ended); // the next runtime's example answers alone
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

test('the documents name the versions of the runtimes', () => {
  const { bun, deno } = JSON.parse(readFileSync(`${source}/runtimes/package.json`, 'utf8')).devDependencies;
  assert.ok(readFileSync(`${source}/README.md`, 'utf8').includes(`Bun ${bun} and Deno ${deno}.`));
  const versions = readFileSync(`${source}/../../docs/versions.md`, 'utf8');
  assert.ok(versions.includes(`| Bun, for the examples of \`recado\` | ${bun} |`));
  assert.ok(versions.includes(`| Deno, for the examples of \`recado\` | ${deno} |`));
});

for (const runtime of Object.keys(commands)) {
  test(`send in ${runtime}`, async (t) => {
    const [messageId] = await once(run(t, runtime, 'send').stdout, 'data');
    const message = await recado.getMessage({ instanceId, messageId: messageId.trim() });
    assert.equal(message.text, 'Oi!');
  });

  test(`echo in ${runtime}`, async (t) => {
    run(t, runtime, 'echo');
    const [customer, message] = ['5511977776655', `eco ${runtime}`];
    const listed = () => asPhone(`${customer}/messages`);
    // It echoes what comes from now on, so the customer writes until it does.
    const echoed = await until(async () => {
      await asPhone(`${customer}/messages`, { to: instanceNumber, type: 'text', text: message });
      return (await listed()).data.find(({ fromMe, text }) => !fromMe && text === message);
    });
    assert(echoed);
  });

  test(`receive in ${runtime}`, async (t) => {
    const [PORT, secret] = [String(await freePort()), 'a secret of mine'];
    const received = run(t, runtime, 'receive', { PORT, WEBHOOK_SECRET: secret });
    const url = `http://127.0.0.1:${PORT}`;
    await until(() => fetch(url, { method: 'POST' }));
    const { id: webhookId } = await recado.createWebhook({ instanceId, url, secret, events: ['message.received'] });
    await asPhone('5511988887766/messages', { to: instanceNumber, type: 'text', text: 'Bom dia' });
    const [line] = await once(received.stdout, 'data');
    assert.match(line, /Bom dia\n/);
    await recado.deleteWebhook({ instanceId, webhookId });
  });
}
