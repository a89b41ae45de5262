// A program that starts a gateway, says where its folder is, and never stops it.
import { startGateway } from 'recado-testing';

const { baseUrl } = await startGateway();
console.log(baseUrl);
if (process.argv[2] === 'wait') setInterval(() => undefined, 1000);
