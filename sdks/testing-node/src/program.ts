// Starts `recado dev` as a process that ends with the program that started it.
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { accessSync, constants, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** How a gateway is started. */
export interface GatewayOptions {
  /** The program `recado`. By default it is what RECADO_BIN names, or the one in PATH. */
  program?: string;
  /** The image that Docker runs if there is no program: by default what RECADO_IMAGE names, or `recado`. */
  image?: string;
  /** How long the start may take, in milliseconds; 60,000 by default. */
  timeout?: number;
}

/** What `recado dev --json` says of itself. */
export interface Ready {
  baseUrl: string;
  apiKey: string;
  instanceId: string;
  instanceNumber: string;
}

/** A process that is ready. */
export interface Running {
  ready: Ready;
  /** The end of its log. */
  log(): string;
  /** Ends it, and resolves when it has ended and its folder is gone. */
  stop(): Promise<void>;
}

const windows = process.platform === 'win32';

// The shell becomes the program. What it leaves behind waits until standard input closes, as it does when this process ends, however
// it ends; then it stops the program and removes its folder. `read` and `kill` are of every shell.
const guarded = `folder=$1; shift; exec 3<&0
(read -r _ <&3; kill $$; n=0; while [ $n -lt 100 ] && kill -0 $$; do sleep 0.1; n=$((n+1)); done; rm -rf "$folder") >/dev/null 2>&1 &
exec "$@" </dev/null 3<&-`;

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill();
});

/** inPath returns whether a program is in PATH. */
function inPath(name: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, windows ? `${name}.exe` : name), constants.X_OK);
      return folder !== '';
    } catch {
      return false;
    }
  });
}

/** chosen returns the program to start, or undefined for Docker. */
function chosen(options: GatewayOptions): string | undefined {
  const program = options.program ?? process.env.RECADO_BIN;
  if (program) return program;
  if (inPath('recado')) return 'recado';
  if (inPath('docker')) return undefined;
  throw new Error('There is no program `recado`: put it in PATH, name it in RECADO_BIN, or install Docker.');
}

/** start starts the program, and resolves when everything answers. */
export async function start(options: GatewayOptions): Promise<Running> {
  const program = chosen(options);
  const folder = mkdtempSync(join(tmpdir(), 'recado-testing-'));
  const image = options.image ?? (process.env.RECADO_IMAGE || 'recado');
  const command = program
    ? [program, 'dev', '--json', '--listen', '127.0.0.1:0', '--data', join(folder, 'data')]
    : // With the network of the machine, so that webhooks reach a bot on 127.0.0.1.
      ['docker', 'run', '--rm', '--network', 'host', image, 'dev', '--json', '--listen', '127.0.0.1:0'];
  // The settings of another gateway do not reach this one.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('RECADO_')));
  const [file = '', ...rest] = windows ? command : ['/bin/sh', '-c', guarded, 'recado', folder, ...command];
  const child = spawn(file, rest, { env, stdio: 'pipe', windowsHide: true });
  running.add(child);

  let log = '';
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    log = (log + piece).slice(-20_000);
  });
  child.stdin.on('error', () => undefined); // closed already, if the program could not be started
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(`it ended with ${signal ?? code}`));
  });
  const stop = async (): Promise<void> => {
    child.ref();
    child.kill();
    const late = setTimeout(() => child.kill('SIGKILL'), 15_000);
    await ended;
    clearTimeout(late);
    running.delete(child);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const ready = await said(child, ended, options.timeout ?? 60_000);
    // A gateway that nobody stops does not keep this process from ending.
    for (const each of [child, child.stdin, child.stdout, child.stderr]) (each as unknown as { unref(): void }).unref();
    return { ready, log: () => log, stop };
  } catch (error) {
    await stop();
    throw new Error(`${command.join(' ')} did not start: ${error instanceof Error ? error.message : error}\n${log}`, {
      cause: error,
    });
  }
}

/** said waits for the line that the program prints when it is ready. */
function said(child: ChildProcessWithoutNullStreams, ended: Promise<string>, timeout: number): Promise<Ready> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`it was not ready within ${timeout} ms`)), timeout);
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      if (printed.length < 100_000) printed += piece;
      if (!printed.includes('\n')) return;
      clearTimeout(late);
      try {
        resolve(JSON.parse(printed) as Ready);
      } catch (error) {
        reject(error);
      }
    });
    void ended.then((why) => {
      clearTimeout(late);
      reject(new Error(why));
    });
  });
}
