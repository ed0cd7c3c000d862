'use strict';

// npm runs this when it installs the package: it compiles the addon for the installed libredlock,
// unless there is an addon that this Node.js can load. One line names everything that is missing.
//
// No node-gyp: it would fetch headers from the network, although Node-API is the same in all of
// them, and needs Python and make, while one command of the compiler is enough.

const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const { version } = require('./package.json');

const addon = path.join(__dirname, 'quorum_redlock.node');
const { env } = process;
/** As pkg-config writes them: with a backslash before a blank in a path. */
const words = (text = '') =>
  (text.match(/(?:\\.|\S)+/g) ?? []).map((word) => word.replace(/\\(.)/g, '$1'));

function run(command, given) {
  const { status, stdout, stderr } = spawnSync(command, given, { encoding: 'utf8' });
  return { done: status === 0, output: (stdout ?? '').trim(), errors: (stderr ?? '').trim() };
}

function fail(message) {
  console.error(`quorum-redlock: ${message}`);
  process.exit(1);
}

/** Why it cannot be loaded; empty: it can. In another process: what was loaded stays. */
function whyNotLoadable() {
  const text = 'try { require(process.argv[1]); } '
    + 'catch ({ message, cause }) { console.log(cause?.message ?? message); }';
  const { done, output, errors } =
    run(process.execPath, ['--eval', text, path.join(__dirname, 'src', 'native.cjs')]);
  return done ? output : errors || 'the process that loaded it has crashed';
}

const missing = [];

/** The folder of node_api.h: the one that was named, beside this Node.js, or Debian's. */
function findHeaders() {
  const nodedir = env.npm_config_nodedir;
  const beside = path.join(path.dirname(fs.realpathSync(process.execPath)), '..');
  const folders = nodedir ? [path.join(nodedir, 'include', 'node'), path.join(nodedir, 'src')]
    : [path.join(beside, 'include', 'node'), '/usr/include/node', '/usr/include/nodejs/src'];
  const found = folders.find((folder) => fs.existsSync(path.join(folder, 'node_api.h')));
  if (found === undefined) {
    missing.push('node_api.h of Node.js (Debian: libnode-dev; others: name the folder that has it '
      + `as include/node/node_api.h in npm_config_nodedir; it is not in ${folders.join(', ')})`);
  }
  return found;
}

function findCompiler() {
  const [command = 'c++', ...given] = words(env.CXX);
  if (run(command, [...given, '--version']).done) return [command, ...given];
  missing.push(`a C++20 compiler ('${command}' does not run; Debian: g++; others: name it in CXX)`);
  return undefined;
}

/** The compiler's flags for libredlock. */
function findLibrary() {
  const pkgConfig = env.PKG_CONFIG || 'pkg-config';
  const ask = (...given) => run(pkgConfig, [...given, 'redlock']);
  if (!run(pkgConfig, ['--version']).done) {
    missing.push(`pkg-config ('${pkgConfig}' does not run; Debian: pkg-config)`);
    return undefined;
  }
  const { done, errors } = ask('--exists', '--print-errors');
  if (!done) {
    missing.push('libredlock with its headers (install redlock from its sources or packages; if it '
      + 'is in a prefix of its own, name the folder of redlock.pc in PKG_CONFIG_PATH; pkg-config '
      + `says: ${errors.split('\n')[0]})`);
    return undefined;
  }
  // While the first number is 0, another second number is another interface. Later ones only grow.
  const [major, minor] = version.split('.').map(Number);
  const next = major === 0 ? `0.${minor + 1}` : `${major + 1}`;
  if (!ask(`--atleast-version=${version}`).done || ask(`--atleast-version=${next}`).done) {
    missing.push(`libredlock ${version} or later, before ${next} (pkg-config finds `
      + `${ask('--modversion').output})`);
    return undefined;
  }
  const flags = (...given) => words(ask(...given).output);
  // The library's folder may be none that the loader searches, so the addon names it.
  const rpath = flags('--variable=libdir').map((folder) => `-Wl,-rpath,${folder}`);
  return { compile: flags('--cflags'), link: [...flags('--libs'), ...rpath] };
}

if (fs.existsSync(addon) && whyNotLoadable() === '') process.exit(0);

const headers = findHeaders();
const compiler = findCompiler();
const library = findLibrary();
if (missing.length > 0) fail(`the addon cannot be compiled; missing: ${missing.join('; ')}`);

const sources = fs.readdirSync(path.join(__dirname, 'addon'))
  .filter((name) => name.endsWith('.cpp')).map((name) => path.join(__dirname, 'addon', name));
const compiled = `${addon}.${process.pid}`;
const { done, errors } = run(compiler[0], [
  ...compiler.slice(1), '-std=c++20', '-O2', '-fPIC', '-fvisibility=hidden', '-DNAPI_VERSION=8',
  ...words(env.CXXFLAGS), '-isystem', headers, ...library.compile, ...sources,
  // It must stay: the library's thread, and what OpenSSL registers for the end of the process.
  '-shared', '-Wl,-z,nodelete', ...words(env.LDFLAGS), ...library.link, '-pthread', '-o', compiled,
]);
if (!done) {
  fs.rmSync(compiled, { force: true });
  console.error(errors);
  fail(`the addon cannot be compiled: '${compiler.join(' ')}' fails, and has said why`);
}
fs.renameSync(compiled, addon);
const why = whyNotLoadable();
if (why !== '') fail(`the addon was compiled, but cannot be loaded: ${why}`);
