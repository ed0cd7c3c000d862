// The package as a registry would have it: packed, and installed offline in an empty folder, with
// an installed library; and its messages if something is missing.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { checkBindings, inLinuxWithGlibc } from './bindings.mjs';
import { startNodes } from './nodes.mjs';

const packageFolder = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const { version } = JSON.parse(fs.readFileSync(`${packageFolder}/package.json`, 'utf8'));
const hasNpm = spawnSync('npm', ['--version']).status === 0;

let work;
let prefix;
let tarball;
let servers;
before(async () => {
  work = fs.mkdtempSync(path.join(os.tmpdir(), 'quorum-redlock-install-'));
  prefix = path.join(work, 'a prefix');
  for (const component of ['redlock_library', 'redlock_development']) {
    done(spawnSync(process.env.CMAKE, ['--install', process.env.REDLOCK_BUILD, '--component',
      component, '--prefix', prefix]));
  }
  tarball = pack(`${packageFolder}-source`);
  servers = await startNodes(3);
});
after(async () => {
  await servers?.stop();
  fs.rmSync(work, { recursive: true, force: true });
});

function done({ status, stdout, stderr }) {
  assert.equal(status, 0, `${stdout}${stderr}`);
  return String(stdout);
}

function npm(folder, given, environment) {
  const { npm_config_nodedir, CXX, PKG_CONFIG, PKG_CONFIG_PATH, ...rest } = process.env;
  const quiet = { npm_config_cache: path.join(work, 'cache'), npm_config_update_notifier: 'false',
    npm_config_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' };
  return spawnSync(given[0], given.slice(1),
    { cwd: folder, encoding: 'utf8', env: { ...rest, ...quiet, ...environment } });
}

/** → the tarball. Debian's nodejs comes without npm: then this does what npm does. */
function pack(folder) {
  const target = fs.mkdtempSync(path.join(work, 'packed-'));
  if (hasNpm) {
    done(npm(target, ['npm', 'pack', folder]));
  } else {
    const { files } = JSON.parse(fs.readFileSync(`${folder}/package.json`, 'utf8'));
    const present = files.filter((file) => fs.existsSync(`${folder}/${file}`));
    done(spawnSync('tar', ['czf', `${target}/quorum-redlock-${version}.tgz`, '-C', folder,
      '--transform', 's,^,package/,', 'package.json', ...present]));
  }
  return `${target}/quorum-redlock-${version}.tgz`;
}

/** Into an empty folder. → {folder, status, stderr} */
function install(from, environment, { scripts = true } = {}) {
  const folder = fs.mkdtempSync(path.join(work, 'installed-'));
  if (hasNpm) {
    const given = ['npm', 'install', ...(scripts ? [] : ['--ignore-scripts']), from];
    return { folder, ...npm(folder, given, environment) };
  }
  const target = `${folder}/node_modules/quorum-redlock`;
  fs.mkdirSync(target, { recursive: true });
  done(spawnSync('tar', ['xzf', from, '-C', target, '--strip-components', '1']));
  const script = scripts ? ['node', 'install.cjs'] : ['true'];
  return { folder, ...npm(target, script, environment) };
}

const libraryAt = (folder) => {
  const found = fs.readdirSync(folder, { recursive: true })
    .find((name) => name.endsWith('redlock.pc'));
  return { PKG_CONFIG_PATH: path.dirname(path.join(folder, found)) };
};
/** No pkg-config finds another one either. */
const noLibrary = { PKG_CONFIG_LIBDIR: '/nonexistent' };

/** The one line of the installer's; npm adds its own. */
function complaint({ status, stderr }) {
  assert.notEqual(status, 0, stderr);
  const lines = stderr.split('\n').filter((line) => /(^|\s)quorum-redlock: /.test(line));
  assert.equal(lines.length, 1, stderr);
  return lines[0];
}

test('without the library one line says that it is missing', () => {
  const line = complaint(install(tarball, noLibrary));
  assert.match(line, /missing: libredlock with its headers \(.*PKG_CONFIG_PATH.*\)$/);
});

test('one line names all that is missing, and how to get it', () => {
  const { folder: installed } = install(tarball, {}, { scripts: false });
  const script = (environment) =>
    npm(`${installed}/node_modules/quorum-redlock`, ['node', 'install.cjs'], environment);
  const all = complaint(script(
    { ...noLibrary, npm_config_nodedir: '/nonexistent', CXX: '/nonexistent/c++' }));
  assert.match(all,
    /missing: node_api\.h .*libnode-dev.*; a C\+\+20 compiler .*g\+\+.*; libredlock /);
  assert.match(complaint(script({ PKG_CONFIG: '/nonexistent/pkg-config' })),
    /missing: pkg-config \(.*Debian: pkg-config\)$/);

  const other = (found) => {
    const folder = fs.mkdtempSync(path.join(work, 'other-'));
    fs.writeFileSync(`${folder}/redlock.pc`, `Name: redlock\nDescription: x\nVersion: ${found}\n`);
    return { PKG_CONFIG_PATH: folder };
  };
  assert.match(complaint(script(other('99.1.0'))),
    new RegExp(`missing: libredlock ${version} or later, .* \\(pkg-config finds 99\\.1\\.0\\)$`));
  assert.match(complaint(script({ ...other(version), CXX: 'false' })), /'false' does not run/);
  assert.match(complaint(script({ ...other(version), CXXFLAGS: '-include /nonexistent.h' })),
    /the addon cannot be compiled: .* has said why$/);
});

test('a package whose addon was not compiled says so', () => {
  const { folder } = install(tarball, {}, { scripts: false });
  const { status, stderr } = spawnSync(process.execPath, ['--eval', 'require("quorum-redlock")'],
    { cwd: folder, encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(stderr, /^Error: quorum-redlock cannot load its addon: it was not compiled; npm /m);
});

const program = (quorumRedlock) => `
  const client = await ${quorumRedlock}.Client.create({ nodes: process.argv.slice(1) });
  const lease = await client.acquire('installed', { fencing: true });
  console.log(typeof lease.fencingToken, ${quorumRedlock}.version);
  await lease.release();
  await client.close();`;

async function uses(folder, environment = {}) {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', `
    import quorumRedlock, * as names from 'quorum-redlock';
    import { createRequire } from 'node:module';
    if (createRequire(import.meta.url)('quorum-redlock').Lease !== names.Lease) process.exit(2);
    ${program('quorumRedlock')}`, ...servers.urls],
  { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...environment } });
  let output = '';
  child.stdout.on('data', (data) => { output += data; });
  const [code] = await once(child, 'close');
  assert.equal(code, 0);
  assert.equal(output, `number ${version}\n`);
}

test('with the library it is compiled, and takes locks', async () => {
  const installed = install(tarball, libraryAt(prefix));
  done(installed);
  const target = `${installed.folder}/node_modules/quorum-redlock`;
  for (const file of ['README.md', 'LICENSE', 'index.d.ts', 'quorum_redlock.node']) {
    assert.ok(fs.statSync(`${target}/${file}`).size > 0, file);
  }
  assert.ok(!fs.existsSync(`${target}/tests`));
  await uses(installed.folder);
  if (inLinuxWithGlibc) {
    await checkBindings('/libredlock.so', (environment) => uses(installed.folder, environment));
  }
});

test('with an addon in it nothing is compiled, and no library is needed', async () => {
  const installed = install(pack(packageFolder), { ...noLibrary, CXX: '/nonexistent/c++' });
  done(installed);
  await uses(installed.folder);
});
