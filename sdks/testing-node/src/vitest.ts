// Vitest's `test` with a gateway and a phone.
import { test as base, type TestAPI } from 'vitest';
import { type Gateway, type Phone, startGateway } from './index.js';

/** What tests may name among their parameters. */
export interface RecadoFixtures {
  /** A gateway that the tests of a worker share. */
  recadoGateway: Gateway;
  /** A phone that no other test has used. */
  recadoPhone: Phone;
}

/** Vitest's `test`. The gateway starts when the first test names it or the phone. */
export const test: TestAPI<RecadoFixtures> = base.extend<RecadoFixtures>({
  recadoGateway: [
    // biome-ignore lint/correctness/noEmptyPattern: Vitest reads from it that nothing else is needed.
    async ({}, use) => {
      const gateway = await startGateway();
      try {
        await use(gateway);
      } finally {
        await gateway.stop();
      }
    },
    { scope: 'worker' },
  ],
  recadoPhone: async ({ recadoGateway }, use) => use(recadoGateway.phone()),
});
