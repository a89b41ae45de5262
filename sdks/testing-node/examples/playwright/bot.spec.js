import { expect } from '@playwright/test';
import { test } from 'recado-testing/playwright';
import { startBot } from '../bot.js';

test('the bot says what it hears', async ({ recadoGateway, recadoPhone }) => {
  const bot = await startBot(recadoGateway);
  try {
    await recadoPhone.send('Oi!');
    const answer = await recadoPhone.waitForMessage();

    expect(answer.text).toBe('Oi!');
  } finally {
    bot.close();
  }
});
