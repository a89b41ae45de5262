#!/usr/bin/env node
// Makes a folder with a bot and a test of it, which runs with simulated phones: npm create recado-testing my-bot.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const runners = {
  vitest: { package: 'vitest', command: 'vitest run' },
  playwright: { package: '@playwright/test', command: 'playwright test' },
};

/** fail ends the program with what is wrong. */
function fail(message) {
  console.error(`${message}\nUse it so: npm create recado-testing [folder] [-- --playwright]`);
  process.exit(2);
}

function given() {
  try {
    return parseArgs({ allowPositionals: true, options: { playwright: { type: 'boolean', default: false } } });
  } catch (error) {
    return fail(error.message);
  }
}

const { positionals, values } = given();
if (positionals.length > 1) fail('Name one folder.');
const [name = 'recado-bot'] = positionals;
const folder = resolve(name);
if (existsSync(folder) && readdirSync(folder).length > 0) {
  fail(`${name} is not empty: choose a folder that is, or a new one.`);
}

const from = fileURLToPath(new URL('.', import.meta.url));
const testing = JSON.parse(readFileSync(join(from, 'testing.json'), 'utf8'));
const kind = values.playwright ? 'playwright' : 'vitest';
const runner = runners[kind];

mkdirSync(folder, { recursive: true });
cpSync(join(from, 'examples', 'bot.js'), join(folder, 'bot.js'));
cpSync(join(from, 'examples', kind), join(folder, 'test'), { recursive: true });
const project = {
  name: basename(folder).toLowerCase(),
  private: true,
  type: 'module',
  scripts: { test: runner.command },
  devDependencies: {
    [runner.package]: `^${testing.devDependencies[runner.package]}`,
    [testing.name]: `^${testing.version}`,
  },
};
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(project, null, 2)}\n`);
writeFileSync(join(folder, '.gitignore'), 'node_modules\n');

console.log(`${name} has a bot, and a test of it with simulated phones:

  cd ${name}
  npm install
  npm test`);
