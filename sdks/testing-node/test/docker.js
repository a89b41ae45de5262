#!/usr/bin/env node
// Stands in for Docker: the image is the program, and its port is forwarded by nobody.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const { PLACE, PROGRAM } = JSON.parse(readFileSync(`${import.meta.dirname}/docker.json`, 'utf8'));
const [command, ...rest] = process.argv.slice(2);
if (command === 'port') {
  const { container, port } = JSON.parse(readFileSync(PLACE, 'utf8'));
  if (rest.join(' ') !== `${container} 8080/tcp`) process.exit(1);
  console.log(`127.0.0.1:${port}`);
} else {
  const [rm, name, container, publish, address, image, ...args] = rest;
  const said = [command, rm, name, publish, address, image].join(' ');
  if (said !== 'run --rm --name -p 127.0.0.1::8080 an-image') throw new Error(said);
  const child = spawn(PROGRAM, [...args, '--listen', '127.0.0.1:0', '--data', `${PLACE}.data`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.on('SIGTERM', () => child.kill());
  child.on('exit', (code) => process.exit(code ?? 1));
  child.stdout.on('data', (line) => {
    const ready = JSON.parse(line);
    writeFileSync(PLACE, JSON.stringify({ container, port: new URL(ready.baseUrl).port }));
    console.log(JSON.stringify({ ...ready, baseUrl: 'http://localhost:8080' }));
  });
}
