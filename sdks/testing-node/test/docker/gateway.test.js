// The package that check.sh has installed, with Docker in place of the program.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { startGateway } from 'recado-testing';
import { RecadoContainer } from 'recado-testing/testcontainers';
import { startBot } from '../../examples/bot.js';

/** containers returns what Docker runs. */
const containers = () => execFileSync('docker', ['ps', '--quiet']).toString();

test('Docker runs the image if there is no program', async (t) => {
  const gateway = await startGateway();
  t.after(() => gateway.stop());
  const bot = await startBot(gateway);
  t.after(() => bot.close());
  const phone = gateway.phone();
  await phone.send('Oi!');
  assert.equal((await phone.waitForMessage()).text, 'Oi!');
  assert.notEqual(containers(), '');
  await gateway.stop();
  assert.equal(containers(), '');
});

test('a container ends with its gateway, whose log it keeps', async () => {
  const { gateway } = await new RecadoContainer().start();
  assert.match(gateway.log(), /level=/);
  await gateway.stop();
  assert.equal(containers(), '');
});

test('a container without a gateway is refused', { timeout: 60_000 }, async () => {
  await assert.rejects(new RecadoContainer().withCommand(['--version']).start());
});
