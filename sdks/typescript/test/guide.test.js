// The guide as a program, against a gateway of its own: it makes and deletes instances, and reads lists.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Recado } from 'recado';
import { asPhone, gateway } from './gateway.js';

const { apiKey, baseUrl, partnerKey } = gateway;

test('the guide does what it says', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['examples/guide.js'], {
    env: { PATH: process.env.PATH, RECADO_URL: baseUrl, RECADO_API_KEY: apiKey, RECADO_PARTNER_KEY: partnerKey },
  });
  const printed = stdout.split('\n').filter((line) => /^[A-Z_]{10,}$/.test(line));
  assert.deepEqual(printed, [
    'IDEMPOTENCY_CONFLICT',
    'VALIDATION_ERROR',
    'RECIPIENT_NOT_REGISTERED',
    'UNAUTHORIZED',
    'PAYMENT_REQUIRED',
  ]);
  const { data: messages } = await asPhone('5511988887766/messages');
  const texts = messages.map(({ text, caption }) => caption || text);
  for (const text of ['Chega até as 18h.', 'Seu pedido', 'Como montar', 'Sua nota', 'Chegou?']) {
    assert(texts.includes(text), text);
  }
  assert.equal(texts.filter((text) => text === 'Pedido 1234 enviado.').length, 1);
  const recado = new Recado({ baseUrl, apiKey });
  const { data: left } = await recado.listInstances();
  assert.deepEqual(
    left.map(({ name }) => name),
    ['demo'],
  );
});
