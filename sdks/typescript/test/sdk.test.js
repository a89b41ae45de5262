// The package, used as its users do, against a gateway with its sandbox. In the folder of the package itself it is the
// one that was built; check.sh runs the same tests with the one that it has packed and installed.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import {
  ConnectionError,
  items,
  NotFoundError,
  Recado,
  RecadoError,
  UnauthorizedError,
  UnavailableError,
  ValidationError,
  verifyWebhook,
  WebhookError,
} from 'recado';
import { asPhone, cable, gateway } from './gateway.js';

const { apiKey, baseUrl, instanceId, partnerKey } = gateway;
const customer = '5511988887766';
const recado = new Recado({ baseUrl, apiKey });
const partner = new Recado({ baseUrl, apiKey: partnerKey });

/** serve answers requests by a function, and returns the address. */
async function serve(t, answer) {
  const server = createServer(answer);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}`;
}

test('programs of both kinds of modules load the same names', () => {
  assert.deepEqual(Object.keys(createRequire(import.meta.url)('recado')).sort(), [
    'ConflictError',
    'ConnectionError',
    'ForbiddenError',
    'NotFoundError',
    'PaymentRequiredError',
    'RateLimitedError',
    'Recado',
    'RecadoError',
    'UnauthorizedError',
    'UnavailableError',
    'ValidationError',
    'WebhookError',
    'items',
    'verifyWebhook',
  ]);
});

test('address and key come from the environment', async (t) => {
  delete process.env.RECADO_API_KEY;
  assert.throws(() => new Recado(), /RECADO_API_KEY/);
  assert.throws(() => new Recado({ baseUrl: 'nowhere', apiKey }), /Invalid URL/);
  process.env.RECADO_URL = `${baseUrl}/`;
  process.env.RECADO_API_KEY = apiKey;
  t.after(() => {
    for (const name of ['RECADO_URL', 'RECADO_API_KEY']) delete process.env[name];
  });
  assert.equal((await new Recado().getInstance({ instanceId })).instanceId, instanceId);
});

test('a text is on the phone, and a message with the same key is sent once', async () => {
  const text = { instanceId, to: customer, message: 'Oi, açaí!', 'Idempotency-Key': 'order 17' };
  const sent = await recado.sendText(text);
  assert.equal((await recado.sendText(text)).messageId, sent.messageId);
  const message = await recado.getMessage({ instanceId, messageId: sent.messageId });
  assert.equal(message.text, 'Oi, açaí!');
});

test('a refusal is an error with its code and its fields', async () => {
  const wrong = new Recado({ baseUrl, apiKey: 'rcd_wrong' });
  await assert.rejects(wrong.listInstances(), (error) => {
    assert(error instanceof UnauthorizedError && error instanceof RecadoError);
    assert.deepEqual([error.name, error.statusCode, error.code], ['UnauthorizedError', 401, 'UNAUTHORIZED']);
    assert(error.requestId);
    return true;
  });
  await assert.rejects(recado.sendText({ instanceId, to: '', message: 'x' }), (error) => {
    assert(error instanceof ValidationError);
    assert.deepEqual(
      error.details.map(({ field }) => field),
      ['to'],
    );
    return true;
  });
  await assert.rejects(recado.getMessage({ instanceId, messageId: '3EB0' }), NotFoundError);
});

test('a redirect is a refusal, and takes the key nowhere', async (t) => {
  const elsewhere = await serve(t, () => assert.fail('the redirect was followed'));
  const url = await serve(t, (request, response) =>
    request.resume().on('end', () => response.writeHead(307, { location: elsewhere }).end()),
  );
  const redirected = new Recado({ baseUrl: url, apiKey });
  for (const call of [
    () => redirected.sendText({ instanceId, to: customer, message: 'x' }),
    () => redirected.upload(new Blob(['x'])),
    () => redirected.streamEvents({ instanceId }).next(),
  ]) {
    await assert.rejects(call, (error) => error instanceof RecadoError && error.statusCode === 307);
  }
});

test('what fails for now is made again, if that does nothing twice', async (t) => {
  const requests = [];
  const url = await serve(t, (request, response) => {
    requests.push([request.url, request.headers['idempotency-key']]);
    response.setHeader('content-type', 'application/json');
    if (requests.length % 3 === 0) return response.end('{"messageId":"3EB0"}');
    response.writeHead(503, { 'retry-after': '0' });
    response.end('{"statusCode":503,"error":"UNAVAILABLE","message":"starting"}');
  });
  const patient = new Recado({ baseUrl: url, apiKey });
  assert.equal((await patient.sendText({ instanceId, to: customer, message: 'x' })).messageId, '3EB0');
  assert.equal(requests.length, 3);
  assert.equal(new Set(requests.map(([, key]) => key)).size, 1);
  assert.match(requests[0][1], /^[0-9a-f-]{36}$/);

  // Two instances may come of two requests, so this one is made once.
  await assert.rejects(patient.createInstance({ name: 'shop' }), UnavailableError);
  assert.equal(requests.length, 4);
  await assert.rejects(new Recado({ baseUrl: url, apiKey, retries: 0 }).listInstances(), UnavailableError);
  assert.equal(requests.length, 5);
});

test('what was refused or cut before it was done is made again', async (t) => {
  let requests = 0;
  const url = await serve(t, (request, response) => {
    requests++;
    response.setHeader('content-type', 'application/json');
    if (requests === 1) return response.writeHead(429, { 'retry-after': '1' }).end('{"error":"RATE_LIMITED"}');
    if (requests === 3) return request.socket.destroy();
    response.end('{"instanceId":"01a1"}');
  });
  const patient = new Recado({ baseUrl: url, apiKey });
  const began = performance.now();
  await patient.createInstance({ name: 'shop' });
  assert(performance.now() - began >= 1000);
  await patient.getInstance({ instanceId });
  assert.equal(requests, 4);
});

test('a gateway that is away is an error of its own', async (t) => {
  const silent = await serve(t, () => undefined);
  const impatient = new Recado({ baseUrl: silent, apiKey, retries: 0, timeout: 50 });
  await assert.rejects(impatient.listInstances(), (error) => {
    assert(error instanceof ConnectionError);
    assert.match(error.message, /no answer in time/);
    return true;
  });
  const away = await cable();
  away.close();
  const nobody = new Recado({ baseUrl: away.url, apiKey, retries: 0 });
  await assert.rejects(nobody.listInstances(), {
    name: 'ConnectionError',
    message: `the gateway at ${away.url} can't be reached: connect ECONNREFUSED ${new URL(away.url).host}`,
  });
});

test('a list is one sequence', async () => {
  const names = ['first', 'second', 'third'];
  for (const name of names) await partner.createInstance({ name });
  const listed = [];
  for await (const { name } of items((page) => recado.listInstances({ page, limit: 1 }))) listed.push(name);
  assert.deepEqual(listed, ['demo', ...names]);
});

test('events go on where a cut stream was, without a gap', async (t) => {
  const line = await cable();
  t.after(line.close);
  const texts = ['um', 'dois', 'três'];
  const seen = [];
  const far = new Recado({ baseUrl: line.url, apiKey });
  await asPhone(`${customer}/messages`, { to: gateway.instanceNumber, type: 'text', text: texts[0] });
  for await (const event of far.streamEvents({ instanceId, after: 0, types: ['message.received'] })) {
    if (!texts.includes(event.data.text)) continue; // another test's
    seen.push(event.data.text);
    if (seen.length === texts.length) break;
    line.cut();
    await asPhone(`${customer}/messages`, { to: gateway.instanceNumber, type: 'text', text: texts[seen.length] });
  }
  assert.deepEqual(seen, texts);
});

test('a silent connection is given up, and the next begins after what it has said', async (t) => {
  const positions = [];
  const url = await serve(t, (request, response) => {
    positions.push(request.headers['last-event-id']);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (positions.length === 1) return response.write('retry: 1\nid: 7\n\n'); // there were events of other types
    const event = Buffer.from('id: 8\r\ndata: {"data":{"text":"açaí: um"}}\r\n\r\n');
    const inside = event.indexOf('ç') + 1;
    response.write(event.subarray(0, inside));
    setImmediate(() => response.write(event.subarray(inside)));
  });
  for await (const { data } of new Recado({ baseUrl: url, apiKey }).streamEvents({ instanceId, silence: 200 })) {
    assert.equal(data.text, 'açaí: um');
    break;
  }
  assert.deepEqual(positions, [undefined, '7']);
});

test('a stream ends with its signal, or with an error that stays', async () => {
  const signal = AbortSignal.abort();
  for await (const event of recado.streamEvents({ instanceId, after: 0, signal })) assert.fail(event.type);
  const strange = recado.streamEvents({ instanceId: '01a1fa84-de19-7bc8-9e51-c104e24cd85b' });
  await assert.rejects(strange.next(), NotFoundError);
});

test('a delivery is verified, and nothing that was changed', async (t) => {
  let delivered;
  const delivery = new Promise((resolve) => {
    delivered = resolve;
  });
  const url = await serve(t, (request, response) => {
    const pieces = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => {
      response.end();
      delivered({ headers: request.headers, body: Buffer.concat(pieces) });
    });
  });
  const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
  const { id: webhookId } = await recado.createWebhook({ instanceId, url, secret });
  await recado.testWebhook({ instanceId, webhookId });
  const { headers, body } = await delivery;
  const event = await verifyWebhook(['another', secret], headers, body);
  assert.equal(event.type, 'webhook.test');
  assert.deepEqual(await verifyWebhook(secret, new Headers(headers), body.toString()), event);
  const now = new Date();
  for (const [what, args] of Object.entries({
    'another secret': ['another', headers, body],
    'another body': [secret, headers, `${body} `],
    'no signature': [secret, {}, body],
    'too late': [secret, headers, body, { now: new Date(now.getTime() + 301_000) }],
    'too early': [secret, headers, body, { now: new Date(now.getTime() - 301_000) }],
  })) {
    await assert.rejects(verifyWebhook(...args), WebhookError, what);
  }
  await recado.deleteWebhook({ instanceId, webhookId });
});

test('a secret that is no base64 is used as it is', async () => {
  const timestamp = String(Math.floor(Date.now() / 1000));
  for (const secret of ['açaí', 'whsec_not base64']) {
    const signature = createHmac('sha256', secret).update(`id.${timestamp}.{}`).digest('base64');
    const headers = { 'webhook-id': 'id', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,x v1,${signature}` };
    assert.deepEqual(await verifyWebhook(secret, headers, '{}'), {});
  }
});

test('a file is uploaded as it is read, and sent', async () => {
  const photo = new Uint8Array(await (await fetch(`${baseUrl}/sandbox/files/photo.png`)).arrayBuffer());
  const stream = new ReadableStream({
    start(controller) {
      for (let at = 0; at < photo.length; at += 1000) controller.enqueue(photo.subarray(at, at + 1000));
      controller.close();
    },
  });
  for (const file of [stream, new Blob([photo])]) {
    const { id, size } = await recado.upload(file, { fileName: 'my "photo".png' });
    assert.equal(size, photo.length);
    const { messageId } = await recado.sendImage({ instanceId, to: customer, image: `upload:${id}` });
    assert(messageId);
  }
  await assert.rejects(recado.upload(new Blob([]), {}), ValidationError);
});
