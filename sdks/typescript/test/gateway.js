// The gateway that the tests talk to, which check.sh has started.
import { readFileSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';

/** What `recado dev --ready-file` wrote. */
export const gateway = JSON.parse(readFileSync(process.env.RECADO_READY_FILE ?? '', 'utf8'));

/** cable listens before the gateway; cut breaks the connections that are open. */
export async function cable() {
  const open = new Set();
  const server = createServer((near) => {
    const { hostname, port } = new URL(gateway.baseUrl);
    const far = createConnection(Number(port), hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
    }
    near.pipe(far).pipe(near);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  const close = () => {
    cut();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, cut, close };
}

/** asPhone asks the sandbox's phones. */
export async function asPhone(path, body) {
  const response = await fetch(`${gateway.baseUrl}/sandbox/api/phones/${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.status === 204 ? undefined : response.json();
}
