// Playwright's `test` with a gateway and a phone.
import {
  test as base,
  type PlaywrightTestArgs,
  type PlaywrightTestOptions,
  type PlaywrightWorkerArgs,
  type PlaywrightWorkerOptions,
  type TestType,
} from '@playwright/test';
import { type Gateway, type Phone, startGateway } from './index.js';

/** What a test may name among its parameters. */
export interface RecadoFixtures {
  /** A phone that no other test has used. */
  recadoPhone: Phone;
}

/** What the tests of a worker share. */
export interface RecadoWorkerFixtures {
  /** A gateway. */
  recadoGateway: Gateway;
}

/** Playwright's `test`. The gateway of a worker starts when its first test names it or the phone. */
export const test: TestType<
  PlaywrightTestArgs & PlaywrightTestOptions & RecadoFixtures,
  PlaywrightWorkerArgs & PlaywrightWorkerOptions & RecadoWorkerFixtures
> = base.extend<RecadoFixtures, RecadoWorkerFixtures>({
  recadoGateway: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from it that nothing else is needed.
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
