// Events of an instance, as they happen.

import { RecadoError, refusal, temporary } from './errors.js';
import type { Event } from './generated/types.gen.js';
import { jittered, sleep } from './retry.js';

/** Which events streamEvents yields. */
export interface StreamEvents {
  instanceId: string;
  /** The sequence of the last event that was processed, 0 for none. Left out: begin with the next event. */
  after?: number | undefined;
  /** Types of events, such as `message.received`; all if left out. */
  types?: string[];
  /** Ends the stream. */
  signal?: AbortSignal;
  /** For how many milliseconds nothing may arrive before the connection counts as dead; 45,000 if left out. */
  silence?: number;
}

/** Where streams come from. */
export interface EventSource {
  baseUrl: string;
  apiKey: string;
  fetch: typeof fetch;
}

const firstWait = 500;
const longestWait = 30_000;

/** streamEvents yields events without a gap, and reconnects where it was, until its signal or an error that stays. */
export async function* streamEvents(source: EventSource, options: StreamEvents): AsyncGenerator<Event, void> {
  const { signal } = options;
  const position = { after: options.after, retry: firstWait, alive: false };
  for (let wait = firstWait; !signal?.aborted; wait = Math.min(2 * wait, longestWait)) {
    let pause = 0;
    try {
      yield* read(source, options, position);
    } catch (error) {
      if (signal?.aborted) return;
      if (error instanceof SyntaxError || error instanceof RangeError) throw error; // the same event would come again
      if (error instanceof RecadoError) {
        if (!temporary(error.statusCode, error.retryAfter)) throw error;
        pause = (error.retryAfter ?? 0) * 1000;
      }
    }
    if (position.alive) wait = Math.max(firstWait, position.retry);
    position.alive = false;
    await sleep(Math.max(pause, jittered(wait)), signal).catch(() => undefined);
  }
}

/** read yields the events of one connection, to its end. */
async function* read(
  source: EventSource,
  { instanceId, types, signal, silence = 45_000 }: StreamEvents,
  position: { after: number | undefined; retry: number; alive: boolean },
): AsyncGenerator<Event, void> {
  const path = `/api/instances/${encodeURIComponent(instanceId)}/events`;
  const query = types?.length ? `?types=${types.map(encodeURIComponent).join(',')}` : '';
  const headers = new Headers({ accept: 'text/event-stream', 'x-api-key': source.apiKey });
  if (position.after !== undefined) headers.set('Last-Event-ID', String(position.after));

  const connection = new AbortController();
  const hangUp = () => connection.abort(signal?.reason);
  signal?.addEventListener('abort', hangUp, { once: true });
  let watch = setTimeout(hangUp, silence);
  try {
    const response = await source.fetch(source.baseUrl + path + query, {
      headers,
      redirect: 'manual', // the key goes nowhere else
      signal: connection.signal,
    });
    if (!response.ok) throw refusal(response, await response.json().catch(() => undefined), path);
    const messages = new Messages();
    const text = new TextDecoder();
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      // The time that the caller takes does not count as silence.
      clearTimeout(watch);
      if (done) return;
      for (const { id, data, retry } of messages.read(text.decode(value, { stream: true }))) {
        if (retry !== undefined) position.retry = retry;
        if (data) {
          position.alive = true;
          yield JSON.parse(data) as Event;
        }
        // An event counts as processed when the caller asks for the next one. A message without one says that there
        // are only events of other types up to its id.
        if (id !== undefined) position.after = id;
      }
      watch = setTimeout(hangUp, silence);
    }
  } finally {
    clearTimeout(watch);
    signal?.removeEventListener('abort', hangUp);
    connection.abort();
  }
}

/** A message of a stream. */
interface Message {
  id?: number;
  data?: string;
  retry?: number;
}

/** The most characters of one event. */
const longestEvent = 64 << 20;

/** Messages of a stream that comes in pieces. Libraries for event streams skip messages without data, whose id counts here. */
class Messages {
  #rest = '';
  #message: Message = {};

  /** read yields the messages that end in the next piece. */
  *read(piece: string): Generator<Message, void> {
    this.#rest += piece;
    const lines = piece.includes('\n') ? this.#rest.split('\n') : [this.#rest];
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > longestEvent) throw new RangeError(`an event is longer than ${longestEvent} characters`);
    for (const ended of lines) {
      const line = ended.endsWith('\r') ? ended.slice(0, -1) : ended;
      const colon = line.indexOf(':');
      const name = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
      if (line === '') {
        yield this.#message;
        this.#message = {};
      } else if (name === 'data') {
        this.#message.data = (this.#message.data ?? '') + value;
      } else if ((name === 'id' || name === 'retry') && /^\d+$/.test(value)) {
        this.#message[name] = Number(value);
      }
    }
  }
}
