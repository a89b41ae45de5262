// Everything that the package offers.

export { Recado, type RecadoOptions } from './client.js';
export {
  ConflictError,
  ConnectionError,
  ForbiddenError,
  NotFoundError,
  PaymentRequiredError,
  RateLimitedError,
  RecadoError,
  UnauthorizedError,
  UnavailableError,
  ValidationError,
} from './errors.js';
export type { StreamEvents } from './events.js';
export type * from './generated/types.gen.js';
export { items, type Page } from './items.js';
export { type DeliveryHeaders, type VerifyOptions, verifyWebhook, WebhookError } from './webhook.js';
