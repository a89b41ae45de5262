// The package that check.sh has installed, with the program in RECADO_BIN.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startGateway } from 'recado-testing';
import { startBot } from '../examples/bot.js';

const source = process.env.RECADO_PACKAGE ?? '';
const program = process.env.RECADO_BIN ?? '';

/** scratch returns a folder that is gone after the test. */
function scratch(t) {
  const folder = mkdtempSync(join(tmpdir(), 'test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** started returns a gateway that ends with the test. */
async function started(t, options) {
  const gateway = await startGateway(options);
  t.after(() => gateway.stop());
  return gateway;
}

/** withEnvironment sets variables for the time of a test; undefined removes one. */
function withEnvironment(t, variables) {
  const set = (name, value) => {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  };
  for (const [name, value] of Object.entries(variables)) {
    const before = process.env[name];
    t.after(() => set(name, before));
    set(name, value);
  }
}

/** until waits for a condition, for 30 s at most. */
async function until(condition, what) {
  for (const end = Date.now() + 30_000; !(await condition()); ) {
    assert(Date.now() < end, what);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const answers = (url) =>
  fetch(url).then(
    () => true,
    () => false,
  );

test('the README shows the examples as they are', () => {
  const shown = [...readFileSync(`${source}/README.md`, 'utf8').matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code);
  const files = ['bot.js', 'vitest/bot.test.js'].map((name) => readFileSync(`${source}/examples/${name}`, 'utf8'));
  assert.deepEqual(shown, files);
});

test('it is as fast as the README says', async (t) => {
  const starts = [];
  for (let n = 0; n < 3; n++) {
    const before = performance.now();
    const each = await startGateway();
    starts.push(performance.now() - before);
    await each.stop();
  }
  const gateway = await started(t);
  const bot = await startBot(gateway);
  t.after(() => bot.close());
  const phone = gateway.phone();
  const ways = [];
  for (let n = 0; n < 20; n++) {
    const before = performance.now();
    await phone.send(`${n}`);
    assert.equal((await phone.waitForMessage()).text, `${n}`);
    ways.push(performance.now() - before);
  }
  const middle = (times) => Math.round(times.sort((a, b) => a - b)[Math.floor(times.length / 2)]);
  console.log(`Measured: ready after ${middle(starts)} ms; phone, bot and back in ${middle(ways)} ms (medians)`);
  assert(middle(starts) < 5_000 && middle(ways) < 1_000); // many times what it takes, for machines that do much else
});

test('a phone waits for what it has not seen', async (t) => {
  const gateway = await started(t);
  const [phone, other] = [gateway.phone(), gateway.phone('5511988887766')];
  assert.notEqual(gateway.phone().number, phone.number);
  const messageId = await phone.send({ type: 'text', text: 'Oi', to: other.number });
  await phone.send({ type: 'text', text: 'Tudo bem?', to: other.number });
  const first = await other.waitForMessage();
  assert.deepEqual([first.text, first.fromMe, first.type], ['Oi', false, 'text']);
  assert.equal((await other.waitForMessage(({ text }) => text.startsWith('Tudo'))).text, 'Tudo bem?');
  assert.equal((await phone.messages())[0].messageId, messageId);
  await assert.rejects(
    other.waitForMessage(undefined, { timeout: 50 }),
    /^Error: 5511988887766 received no such message within 50 ms. All that it has received: "Oi", "Tudo bem\?"\.$/,
  );
  await assert.rejects(phone.waitForMessage(undefined, { timeout: 0 }), /received: nothing\.$/); // its own do not count
});

test('the sandbox says why it refuses a message', async (t) => {
  const gateway = await started(t);
  await assert.rejects(gateway.phone().send({ type: 'text', text: 'x', to: '5511000000000' }), /was refused: to: /);
});

test('gateways are apart from each other, and leave nothing behind', async (t) => {
  const folder = scratch(t);
  withEnvironment(t, { TMPDIR: folder, RECADO_EMPTY: 'true', RECADO_DATA: join(folder, 'not-here') });
  const [one, two] = await Promise.all([started(t), started(t)]);
  assert.notEqual(one.baseUrl, two.baseUrl);
  assert(one.instanceId);
  assert.equal(readdirSync(folder).length, 2);
  await one.phone('5511988887766').send('Oi');
  assert.deepEqual(await two.phone('5511988887766').messages(), []);
  await Promise.all([one.stop(), two[Symbol.asyncDispose](), one.stop()]);
  assert.deepEqual(readdirSync(folder), []);
  assert.equal(await answers(one.baseUrl), false);
  await assert.rejects(one.phone().messages(), /does not answer. The end of its log:\n(.*\n)*.*level=/);
});

for (const how of ['ends', 'is killed']) {
  test(`a gateway ends when its program ${how}`, async (t) => {
    const folder = scratch(t);
    const forgetful = spawn(process.execPath, ['test/forgetful.js', how === 'ends' ? '' : 'wait'], {
      env: { ...process.env, TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.after(() => forgetful.kill('SIGKILL'));
    const [line] = await once(forgetful.stdout, 'data');
    if (how === 'is killed') forgetful.kill('SIGKILL');
    await until(async () => !(await answers(String(line).trim())), 'the gateway still answers');
    await until(() => readdirSync(folder).length === 0, 'its folder is still there');
  });
}

test('the program is the one in PATH if none is named', async (t) => {
  const folder = scratch(t);
  symlinkSync(program, join(folder, 'recado'));
  withEnvironment(t, { RECADO_BIN: undefined, PATH: `${folder}:/usr/bin:/bin` });
  const gateway = await started(t);
  assert(await answers(gateway.baseUrl));
});

test('what can not start says why', async (t) => {
  const folder = scratch(t);
  withEnvironment(t, { TMPDIR: folder });
  await assert.rejects(startGateway({ program: '/nowhere/recado' }), /^Error: \/nowhere\/recado dev .*did not start: /);
  await assert.rejects(startGateway({ program: '/bin/cat' }), /did not start: it ended with 1\n.*unrecognized option/);
  await assert.rejects(startGateway({ timeout: 1 }), /it was not ready within 1 ms/);
  assert.deepEqual(readdirSync(folder), []);
  withEnvironment(t, { RECADO_BIN: undefined, PATH: folder });
  await assert.rejects(startGateway(), /There is no program `recado`: put it in PATH/);
});
