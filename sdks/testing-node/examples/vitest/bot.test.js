import { test } from 'recado-testing/vitest';
import { expect } from 'vitest';
import { startBot } from '../bot.js';

test('the bot says what it hears', async ({ recadoGateway, recadoPhone, onTestFinished }) => {
  const bot = await startBot(recadoGateway);
  onTestFinished(() => bot.close());

  await recadoPhone.send('Oi!');
  const answer = await recadoPhone.waitForMessage();

  expect(answer.text).toBe('Oi!');
});
