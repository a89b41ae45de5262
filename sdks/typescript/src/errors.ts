// Refusals of the gateway, and calls that did not reach it.

import type { FieldError } from './generated/types.gen.js';

/** The gateway's answer to a request that it refused. */
export class RecadoError extends Error {
  /** The HTTP status. */
  readonly statusCode: number;
  /** What is wrong, for programs, such as `INSTANCE_NOT_CONNECTED`; empty if the answer is not the gateway's. */
  readonly code: string;
  /** Each field of the request that is not valid. */
  readonly details: FieldError[];
  /** The path of the request. */
  readonly path: string;
  /** After how many seconds the request may be repeated; undefined if the gateway does not say. */
  readonly retryAfter: number | undefined;
  /** The identifier of the request in the gateway's log; undefined if the answer is not the gateway's. */
  readonly requestId: string | undefined;

  constructor(response: Response, body: unknown, path: string) {
    const said = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
    const code = typeof said.error === 'string' ? said.error : '';
    const message = typeof said.message === 'string' ? said.message : response.statusText;
    super([response.status, code].filter(Boolean).join(' ') + (message ? `: ${message}` : ''));
    this.name = new.target.name;
    this.statusCode = response.status;
    this.code = code;
    this.details = Array.isArray(said.details) ? said.details : [];
    this.path = path;
    this.retryAfter = retryAfter(response);
    this.requestId = response.headers.get('x-request-id') ?? undefined;
  }
}

/** 400: the request is not valid; `details` names the fields. */
export class ValidationError extends RecadoError {}
/** 401: the API key is missing or wrong. */
export class UnauthorizedError extends RecadoError {}
/** 402: the instance is not paid for. */
export class PaymentRequiredError extends RecadoError {}
/** 403: the API key, or the account, may not do this. */
export class ForbiddenError extends RecadoError {}
/** 404: there is no such thing. */
export class NotFoundError extends RecadoError {}
/** 409: the instance, or the thing, is not in the state for this. */
export class ConflictError extends RecadoError {}
/** 429: too many requests; `retryAfter` says when to repeat it. */
export class RateLimitedError extends RecadoError {}
/** 5xx: the gateway or the platform can't carry it out now. */
export class UnavailableError extends RecadoError {}

/** The gateway could not be reached, or did not answer in time. `cause` is why. */
export class ConnectionError extends Error {
  constructor(url: string, cause: unknown) {
    super(`the gateway at ${new URL(url).origin} can't be reached: ${reason(cause)}`, { cause });
    this.name = 'ConnectionError';
  }
}

const classes: Record<number, typeof RecadoError> = {
  400: ValidationError,
  401: UnauthorizedError,
  402: PaymentRequiredError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitedError,
};

/** refusal makes the error of an answer. */
export function refusal(response: Response, body: unknown, path: string): RecadoError {
  const Class = classes[response.status] ?? (response.status >= 500 ? UnavailableError : RecadoError);
  return new Class(response, body, path);
}

/** temporary reports whether the same request may get another answer later. */
export function temporary(statusCode: number, retryAfter: number | undefined): boolean {
  return (
    statusCode >= 500 || statusCode === 408 || statusCode === 429 || (statusCode === 409 && retryAfter !== undefined)
  );
}

/** retryAfter returns the seconds of Retry-After. */
export function retryAfter(response: Response): number | undefined {
  const seconds = Number.parseInt(response.headers.get('retry-after') ?? '', 10);
  return seconds >= 0 ? seconds : undefined;
}

function reason(cause: unknown): string {
  const inner = (cause as { cause?: unknown } | null)?.cause ?? cause;
  return inner instanceof Error ? inner.message || inner.name : String(inner);
}
