// Signs up a customer of a service with many tenants: makes an instance for them and a key that is good for this
// instance alone, shows the QR code, and waits until it is scanned. If it runs again for the same customer, it goes on
// with the instance that is there.
//
//     node signup.js store-17
import { writeFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { ConflictError, Recado } from 'recado';

const externalName = process.argv[2]; // what your own programs call the customer
if (!externalName) throw new Error('what is the customer called?');

const partner = new Recado(); // RECADO_URL, and a partner key in RECADO_API_KEY
const { data: found } = await partner.listInstances({ externalName });
const { instanceId } = found[0] ?? (await partner.createInstance({ name: externalName, externalName }));
const { key } = await partner.createApiKey({ name: externalName, instanceIds: [instanceId] });
console.log('key:', key); // it is shown this once: keep it with the customer

const tenant = new Recado({ apiKey: key });
for (let shown = ''; ; await setTimeout(1_000)) {
  const { status, messengerId } = await tenant.getInstance({ instanceId });
  if (status === 'connected') {
    console.log('linked:', messengerId);
    break;
  }
  const shows = await tenant.getQrCode({ instanceId }).catch((error: unknown) => {
    if (error instanceof ConflictError) return undefined; // the code was scanned meanwhile
    throw error;
  });
  if (!shows || shows.code === shown) continue;
  // A code is valid for some seconds. The next one goes into the same file, which viewers of pictures show anew.
  shown = shows.code;
  await writeFile('qr.png', Buffer.from(shows.qrCode.split(',')[1], 'base64'));
  console.log('scan: qr.png');
}
