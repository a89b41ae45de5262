// Repeats of requests that may succeed later.

import { ConnectionError, retryAfter, temporary } from './errors.js';

/** How requests are repeated. */
export interface Retries {
  /** How often a request is repeated after the first time. */
  retries: number;
  /** How many milliseconds an answer may take to begin, each time. */
  timeout: number;
  /** What makes the requests. */
  fetch: typeof fetch;
}

const firstWait = 500;
const longestWait = 60_000;

/** retrying returns a fetch that repeats what may be repeated without being done twice. */
export function retrying({ retries, timeout, fetch }: Retries): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, { ...init, redirect: 'manual' }); // the key goes nowhere else
    for (let tried = 0; ; tried++) {
      const last = tried >= retries;
      const limit = new AbortController();
      const timer = setTimeout(() => limit.abort(new DOMException('no answer in time', 'TimeoutError')), timeout);
      const signal = AbortSignal.any([request.signal, limit.signal]);
      const attempt = last ? request : request.clone();
      let pause = jittered(firstWait * 2 ** tried);
      try {
        const response = await fetch(attempt, { signal });
        if (last || !passes(request, response)) return response;
        pause = Math.max(pause, (retryAfter(response) ?? 0) * 1000);
        if (pause > longestWait) return response;
        await response.body?.cancel();
      } catch (error) {
        if (request.signal.aborted) throw error;
        if (last || !repeatable(request)) throw new ConnectionError(request.url, error);
      } finally {
        clearTimeout(timer);
      }
      await sleep(pause, request.signal);
    }
  };
}

/** passes reports whether the same request may get another answer later, and may be made again. */
function passes(request: Request, response: Response): boolean {
  const refusedUndone = response.status === 429; // whatever it is, nothing was done
  return refusedUndone || (repeatable(request) && temporary(response.status, retryAfter(response)));
}

/** repeatable reports whether a request that is made twice has the effect of one. */
function repeatable(request: Request): boolean {
  return ['GET', 'HEAD', 'PUT', 'DELETE'].includes(request.method) || request.headers.has('Idempotency-Key');
}

/** jittered is a random wait between half of the given one and all of it, so that clients do not come at the same moment. */
export function jittered(wait: number): number {
  return wait * (0.5 + Math.random() / 2);
}

/** sleep waits for some milliseconds, or throws the reason of the signal. */
export function sleep(wait: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, wait);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
