// Redis servers for the tests: on Unix sockets in a folder of their own, and gone when the test is,
// however it ends.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';

/** Options of clients on machines that are busy with other tests. */
export const patient = { node: { shortestTimeout: 20_000, longestTimeout: 20_000 } };

/** Until `condition()` is true, or has a value, which is returned. */
export async function eventually(what, condition, limit = 20_000) {
  const end = Date.now() + limit;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`not within ${limit} ms: ${what}`);
    await pause(10);
  }
}

// The shell outlives the test by as much as it takes to end the server and to remove its folder:
// its standard input ends with the test.
const guard = `
  redis-server "$@" >/dev/null 2>&1 </dev/null &
  echo $!
  cat >/dev/null
  kill -9 $!
  wait
  rm -rf "$0"
  rmdir "\${0%/*}" 2>/dev/null`;

class Node {
  constructor(folder) {
    this.socket = path.join(folder, 'socket');
    this.url = `unix://${this.socket}`;
    this.folder = folder;
  }

  async start() {
    const options = ['--port', '0', '--unixsocket', this.socket, '--save', '', '--appendonly', 'no',
      '--dir', this.folder];
    this.shell = spawn('sh', ['-c', guard, this.folder, ...options],
      { stdio: ['pipe', 'pipe', 'inherit'] });
    this.pid = Number((await once(createInterface(this.shell.stdout), 'line'))[0]);
    const answers = () => this.command('PING').then(() => true, () => false);
    await eventually('the server answers', answers);
    this.shell.unref();
    this.shell.stdin.unref();
    this.shell.stdout.unref();
  }

  /** The reply as Redis sends it: '+PONG\r\n'. */
  command(...words) {
    return new Promise((resolve, reject) => {
      const connection = net.connect(this.socket);
      connection.on('error', reject);
      connection.on('data', (data) => {
        connection.destroy();
        resolve(data.toString());
      });
      const bulks = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
      connection.write(`*${words.length}\r\n${bulks.join('')}`);
    });
  }

  signal(name) {
    process.kill(this.pid, name);
  }

  async stop() {
    if (this.shell.exitCode !== null) return;
    const gone = once(this.shell, 'exit');
    this.shell.ref();
    this.shell.stdin.end();
    await gone;
  }
}

/** Opens them as users do, with the command of this build. */
function open(urls) {
  const command = process.env.QUORUM_LOCK || 'quorum-lock';
  const { status, error, stderr } = spawnSync(command, ['bootstrap', '--nodes', urls.join(',')]);
  if (status !== 0) throw error ?? new Error(`bootstrap: ${stderr}`);
}

/** A deployment, or, if they are not to be opened, new servers; `nodes.options` are those of a client
 *  of it. */
export async function startNodes(count = 3, { opened = true } = {}) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'quorum-redlock-'));
  const nodes = [];
  for (let i = 0; i < count; ++i) {
    fs.mkdirSync(path.join(folder, String(i)));
    nodes.push(new Node(path.join(folder, String(i))));
  }
  await Promise.all(nodes.map((node) => node.start()));
  const urls = nodes.map((node) => node.url);
  if (opened) open(urls);
  return {
    urls,
    nodes,
    options: { nodes: urls },
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}
