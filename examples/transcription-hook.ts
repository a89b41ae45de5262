// Gives every voice note to a command of yours, on its standard input, and sends what the command prints as an answer to
// the voice note. The file is Ogg with Opus.
//
//     node transcription-hook.js ./transcribe --language pt
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { Recado } from 'recado';

const [command, ...options] = process.argv.slice(2);
if (!command) throw new Error('which command transcribes?');

/** transcribe returns what the command prints of a file. */
async function transcribe(url: string): Promise<string> {
  const file = await fetch(url);
  if (!file.ok || !file.body) throw new Error(`the voice note can't be fetched: ${file.status}`);
  const program = spawn(command, options, { stdio: ['pipe', 'pipe', 'inherit'], timeout: 120_000 });
  const ended = new Promise<number | null>((resolve, reject) => program.on('error', reject).on('close', resolve));
  const [printed, , code] = await Promise.all([text(program.stdout), pipeline(file.body, program.stdin), ended]);
  if (code !== 0) throw new Error(`${command} has failed`);
  return printed.trim();
}

const recado = new Recado(); // RECADO_URL and RECADO_API_KEY
const { data: instances } = await recado.listInstances();
const { instanceId } = instances[0];

for await (const event of recado.streamEvents({ instanceId, types: ['message.received'] })) {
  if (event.type !== 'message.received' || !event.data.media?.voice) continue;
  const { chat, messageId } = event.data;
  try {
    const { url } = await recado.getMediaDownloadLink({ instanceId, messageId });
    const message = await transcribe(url);
    if (message) await recado.sendText({ instanceId, to: chat, message, quoteMessageId: messageId });
  } catch (error) {
    console.error(messageId, error); // the next voice note may do better
  }
}
