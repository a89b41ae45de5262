import { Recado } from 'recado';

const recado = new Recado(); // RECADO_URL and RECADO_API_KEY
const { instanceId } = (await recado.listInstances()).data[0];
const { messageId } = await recado.sendText({ instanceId, to: '5511988887766', message: 'Oi!' });
console.log(messageId);
