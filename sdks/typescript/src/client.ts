// The client of a gateway.

import { refusal } from './errors.js';
import { type StreamEvents, streamEvents } from './events.js';
import { createClient } from './generated/client/index.js';
import { idempotent } from './generated/idempotent.js';
import { Operations } from './generated/sdk.gen.js';
import type { Event, Upload } from './generated/types.gen.js';
import { type Retries, retrying } from './retry.js';

/** What a client is made of; everything may be left out. */
export interface RecadoOptions extends Partial<Retries> {
  /** Address of the gateway; if left out, the variable `RECADO_URL`, or else http://127.0.0.1:8080. */
  baseUrl?: string | undefined;
  /** API key; if left out, the variable `RECADO_API_KEY`. */
  apiKey?: string | undefined;
}

/**
 * Calls one gateway with one API key:
 *
 *     const recado = new Recado();
 *     await recado.sendText({ instanceId, to: '5511988887766', message: 'Oi!' });
 *
 * Each operation of the API is a method that takes one object: the parameters of the path, of the query, and the
 * fields of the body. A refusal throws a RecadoError. A request that fails for now is made again, twice at most
 * (`retries`), if that does nothing twice; sends carry an Idempotency-Key for it.
 */
export class Recado extends Operations {
  readonly #source: { baseUrl: string; apiKey: string; fetch: typeof fetch };
  readonly #timeout: number;

  constructor(options: RecadoOptions = {}) {
    const baseUrl = (options.baseUrl ?? variable('RECADO_URL') ?? 'http://127.0.0.1:8080').replace(/\/+$/, '');
    const apiKey = options.apiKey ?? variable('RECADO_API_KEY');
    if (!apiKey) throw new TypeError('an API key is missing: pass apiKey, or set RECADO_API_KEY');
    new URL(baseUrl); // throws what is no address
    const fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
    const timeout = options.timeout ?? 5 * 60_000;
    const client = createClient({
      baseUrl,
      auth: apiKey,
      throwOnError: true,
      fetch: retrying({ retries: options.retries ?? 2, timeout, fetch }),
    });
    client.interceptors.request.use((request, { url }) => {
      if (idempotent.has(url) && !request.headers.has('Idempotency-Key')) {
        request.headers.set('Idempotency-Key', crypto.randomUUID());
      }
      return request;
    });
    client.interceptors.error.use((error, response: Response | undefined, _, { url }) =>
      response ? refusal(response, error, url) : error,
    );
    super({ client });
    this.#source = { baseUrl, apiKey, fetch };
    this.#timeout = timeout;
  }

  /**
   * Stream events
   *
   * Yields the events of an instance in order and without a gap. It reconnects by itself and goes on where it was,
   * until its signal, or an error that reconnecting would not fix. To go on after a restart of your program, keep
   * the `sequence` of the last event that you have processed, and pass it as `after`.
   */
  streamEvents(options: StreamEvents): AsyncGenerator<Event, void> {
    return streamEvents(this.#source, options);
  }

  /**
   * Upload a file, as it is read
   *
   * Sends a file to the gateway without holding it in memory. Afterwards every field for a file takes
   * `upload:` and the id. It is not repeated by itself: a stream is read once.
   */
  async upload(file: Blob | ReadableStream<Uint8Array>, options: { fileName?: string } = {}): Promise<Upload> {
    const boundary = `recado-${crypto.randomUUID()}`;
    const name = options.fileName ?? (file as { name?: string }).name ?? 'file';
    const path = '/api/uploads';
    const response = await retrying({ retries: 0, timeout: this.#timeout, fetch: this.#source.fetch })(
      this.#source.baseUrl + path,
      {
        method: 'POST',
        headers: { 'x-api-key': this.#source.apiKey, 'content-type': `multipart/form-data; boundary=${boundary}` },
        body: form(boundary, name, file instanceof Blob ? file.stream() : file),
        duplex: 'half',
      } as RequestInit,
    );
    const answer = await response.json().catch(() => undefined);
    if (!response.ok) throw refusal(response, answer, path);
    return answer as Upload;
  }
}

/** form streams a form whose one part is a file. */
function form(boundary: string, name: string, file: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const quoted = name.replace(/[\r\n"]/g, (character) => encodeURIComponent(character));
  return file.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      start: (controller) =>
        controller.enqueue(
          encoder.encode(
            `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${quoted}"\r\nContent-Type: application/octet-stream\r\n\r\n`,
          ),
        ),
      flush: (controller) => controller.enqueue(encoder.encode(`\r\n--${boundary}--\r\n`)),
    }),
  );
}

/** variable returns a variable of the environment, where there is one. */
function variable(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name] || undefined;
}
