// A gateway for the time of a test, and its simulated phones.
import { type GatewayOptions, type Running, start } from './program.js';

export type { GatewayOptions };

/** A message as a phone shows it. Which other fields there are depends on its type: docs/sandbox.md, "Messages of phones". */
export interface PhoneMessage {
  messageId: string;
  /** The chat that the message is in, by number. */
  chat: string;
  /** The chat ID of the sender, by number. */
  from: string;
  /** Whether this phone has sent it. */
  fromMe: boolean;
  timestamp: string;
  type: string;
  /** The text of a text; empty for other types. */
  text: string;
  [field: string]: unknown;
}

/** What a phone sends, if it is more than a text: the body of the sandbox's request. */
export interface PhoneContent {
  type: string;
  /** Number or chat ID; by default the number of the gateway's instance. */
  to?: string;
  [field: string]: unknown;
}

/** How long waitForMessage waits. */
export interface WaitOptions {
  /** In milliseconds; 5,000 by default. */
  timeout?: number;
}

/** A gateway with simulated phones, and with one instance that is linked to one of them. */
export interface Gateway extends AsyncDisposable {
  /** The address of the API, such as http://127.0.0.1:41234. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly instanceId: string;
  /** The number of the instance: phones write to it. */
  readonly instanceNumber: string;
  /** Returns the phone with a number, or one that nobody has used yet. */
  phone(number?: string): Phone;
  /** Returns the end of the gateway's log. */
  log(): string;
  /** Ends the gateway, and removes what it has stored. It may be called several times. */
  stop(): Promise<void>;
}

/** Starts a gateway of its own, with a port and a folder of its own, and resolves when everything answers. */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  return gatewayOf(await start(options));
}

/** @internal */
export function gatewayOf(program: Running): Gateway {
  const { baseUrl, apiKey, instanceId, instanceNumber } = program.ready;
  let phones = 0;
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= program.stop();
    return stopped;
  };
  return {
    baseUrl,
    apiKey,
    instanceId,
    instanceNumber,
    phone: (number) => new Phone(program, number ?? unused(phones++)),
    log: program.log,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** unused returns the nth number for a phone. Its last digits choose no special behaviour of the sandbox. */
function unused(n: number): string {
  const [high, low] = [700 + Math.floor(n / 4000), 1000 + 2 * (n % 4000)];
  return `551197${high}${low}`;
}

/** A simulated phone. Numbers that end in 0000 to 0003 behave in a special way: docs/sandbox.md, "Phones". */
export class Phone {
  readonly number: string;
  readonly #program: Running;
  readonly #passed = new Set<string>();

  /** @internal */
  constructor(program: Running, number: string) {
    this.#program = program;
    this.number = number;
  }

  /** Sends a text to the gateway's instance, or another content to anybody. Resolves to the message's ID. */
  async send(content: string | PhoneContent): Promise<string> {
    const { instanceNumber } = this.#program.ready;
    const message = typeof content === 'string' ? { type: 'text', text: content } : content;
    const answer = await this.#ask({ to: instanceNumber, ...message });
    return (answer as { messageId: string }).messageId;
  }

  /** Returns the messages that the phone shows, oldest first, its own among them. */
  async messages(): Promise<PhoneMessage[]> {
    const answer = await this.#ask();
    return (answer as { data: PhoneMessage[] }).data;
  }

  /**
   * Resolves to the first message received that the predicate accepts. Each call goes on behind the message that the last one
   * returned, so that an answer is not taken for the next one. Rejects when the time is over, with what the phone has received.
   */
  async waitForMessage(
    predicate: (message: PhoneMessage) => boolean = () => true,
    { timeout = 5_000 }: WaitOptions = {},
  ): Promise<PhoneMessage> {
    const end = performance.now() + timeout;
    for (;;) {
      const received = (await this.messages()).filter(({ fromMe }) => !fromMe);
      const found = received.findIndex((message) => !this.#passed.has(message.messageId) && predicate(message));
      const message = received[found];
      if (message) {
        for (const { messageId } of received.slice(0, found + 1)) this.#passed.add(messageId);
        return message;
      }
      if (performance.now() >= end) {
        const has = received.map(({ type, text }) => (text ? JSON.stringify(text) : `(${type})`));
        throw new Error(
          `${this.number} received no such message within ${timeout} ms. All that it has received: ${has.join(', ') || 'nothing'}.`,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Asks the sandbox about the phone's messages, or posts one. */
  async #ask(body?: object): Promise<unknown> {
    const { baseUrl } = this.#program.ready;
    const url = `${baseUrl}/sandbox/api/phones/${encodeURIComponent(this.number)}/messages`;
    let response: Response;
    try {
      response = await fetch(url, {
        method: body ? 'POST' : 'GET',
        headers: { 'content-type': 'application/json' },
        body: body && JSON.stringify(body),
        signal: AbortSignal.timeout(30_000),
      });
    } catch (error) {
      throw new Error(`The gateway at ${baseUrl} does not answer. The end of its log:\n${this.#program.log()}`, {
        cause: error,
      });
    }
    const answer = (await response.json()) as { message?: string };
    if (!response.ok) throw new Error(`The phone ${this.number} was refused: ${answer.message}`);
    return answer;
  }
}
