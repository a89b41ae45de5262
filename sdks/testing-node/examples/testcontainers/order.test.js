import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecadoContainer } from 'recado-testing/testcontainers';

test('a customer hears that the order has left', async (t) => {
  const container = await new RecadoContainer('recado').start();
  t.after(() => container.stop());
  const { baseUrl, apiKey, instanceId, phone } = container.gateway;
  const customer = phone();

  const response = await fetch(`${baseUrl}/api/message/${instanceId}/text`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ to: customer.number, message: 'Seu pedido saiu!' }),
  });
  assert(response.ok, await response.text());

  const received = await customer.waitForMessage();
  assert.equal(received.text, 'Seu pedido saiu!');
});
