// Which library each symbol comes from, as the loader of glibc tells it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export const inLinuxWithGlibc = process.platform === 'linux'
  && process.report.getReport().header.glibcVersionRuntime !== undefined;

/** The libuv and the OpenSSL that `file` uses are the system's, or have the names that `names`
 *  matches, in the process that `run(environment)` runs. */
export async function checkBindings(file, run, names = / to \S*\/lib(uv|ssl|crypto)\S*/) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'quorum-redlock-bindings-'));
  try {
    await run({ LD_DEBUG: 'bindings', LD_DEBUG_OUTPUT: path.join(folder, 'log') });
    const log = fs.readdirSync(folder)
      .map((name) => fs.readFileSync(path.join(folder, name), 'latin1')).join('');
    const bound = log.split('\n').filter((line) =>
      line.includes(file) && /symbol `(uv_|SSL_|EVP_|OPENSSL_)/.test(line));
    assert.ok(bound.length > 10, `${bound.length} bindings`);
    const astray = bound.filter((line) => !names.test(line));
    assert.deepEqual(astray, []);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
