// The check of a webhook's signature, for programs that receive webhooks.

import type { Event } from './generated/types.gen.js';

/** Why a delivery is refused. Answer it with 401. */
export class WebhookError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WebhookError';
  }
}

/** What verifyWebhook may be told beside the delivery. */
export interface VerifyOptions {
  /** How many seconds the time of a delivery may be from now; 300 if left out. */
  tolerance?: number;
  /** The moment that counts as now. */
  now?: Date;
}

/** Headers of a request: those of fetch, or those of Node's http. */
export type DeliveryHeaders = Headers | Record<string, string | string[] | undefined>;

/**
 * verifyWebhook returns the event of a delivery that is signed with the secret, or with one of several, as
 * Standard Webhooks 1.0.0 describes. `body` is the body of the request, byte for byte: take it before anything
 * parses it. It throws a WebhookError for any other delivery.
 */
export async function verifyWebhook(
  secret: string | string[],
  headers: DeliveryHeaders,
  body: string | Uint8Array,
  { tolerance = 300, now = new Date() }: VerifyOptions = {},
): Promise<Event> {
  const timestamp = header(headers, 'webhook-timestamp');
  if (!/^-?\d+$/.test(timestamp) || !(Math.abs(now.getTime() / 1000 - Number(timestamp)) <= tolerance)) {
    throw new WebhookError('the delivery is too old, or the clocks differ');
  }
  const encoder = new TextEncoder();
  const content = typeof body === 'string' ? encoder.encode(body) : body;
  const head = encoder.encode(`${header(headers, 'webhook-id')}.${timestamp}.`);
  const signed = new Uint8Array(head.length + content.length);
  signed.set(head);
  signed.set(content, head.length);
  const given = header(headers, 'webhook-signature')
    .split(/\s+/)
    .filter((signature) => signature.startsWith('v1,'))
    .map((signature) => decoded(signature.slice('v1,'.length)))
    .filter((signature) => signature !== undefined);
  for (const one of [secret].flat().filter(Boolean)) {
    const key = await crypto.subtle.importKey('raw', signingKey(one), { name: 'HMAC', hash: 'SHA-256' }, false, [
      'verify',
    ]);
    for (const signature of given) {
      if (header(headers, 'webhook-id') && (await crypto.subtle.verify('HMAC', key, signature, signed))) {
        return JSON.parse(new TextDecoder().decode(content)) as Event;
      }
    }
  }
  throw new WebhookError('the delivery is not signed with the secret');
}

function header(headers: DeliveryHeaders, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? '';
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return [found ?? []].flat().join(' ');
}

/** signingKey is the decoded part of a secret after "whsec_"; any other secret is used as it is. */
function signingKey(secret: string): Uint8Array<ArrayBuffer> {
  const key = secret.startsWith('whsec_') ? decoded(secret.slice('whsec_'.length)) : undefined;
  return key?.length ? key : new TextEncoder().encode(secret);
}

/** decoded is what base64 stands for, or undefined if it is not written as it is encoded. */
function decoded(encoded: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const binary = atob(encoded);
    if (btoa(binary) !== encoded) return undefined;
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
