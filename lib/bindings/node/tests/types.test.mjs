// The declarations: TypeScript compiles what users write, and what the pages show, in its strict
// mode, and the unions are the library's names.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import * as quorumRedlock from 'quorum-redlock';

const packageFolder = fileURLToPath(new URL('..', import.meta.url));
const declarations = fs.readFileSync(`${packageFolder}/index.d.ts`, 'utf8');

const compiler = process.env.TSC || 'tsc';
const answer = spawnSync(compiler, ['--version'], { encoding: 'utf8' });
const [, major, minor] = /(\d+)\.(\d+)/.exec(answer.stdout ?? '') ?? [];
const needsCompiler = { skip: major === undefined && `${compiler} is not installed` };
const hasDisposables = Number(major) > 5 || (Number(major) === 5 && Number(minor) >= 2);
const needsDisposables =
  { skip: !hasDisposables && 'TypeScript 5.2 or later is not installed' };

// Within the package, which finds itself by its name there.
const folder = path.join(packageFolder, 'tests', `types-${process.pid}`);
before(() => fs.mkdirSync(folder));
after(() => fs.rmSync(folder, { recursive: true, force: true }));

function compile(files, { disposables = false } = {}) {
  const project = path.join(folder, 'tsconfig.json');
  const compilerOptions = {
    strict: true, noEmit: true, target: 'es2022', module: 'node16', moduleResolution: 'node16',
    lib: ['es2022', 'dom', ...(disposables ? ['esnext.disposable'] : [])], types: [],
  };
  const absolute = files.map((file) => path.resolve(packageFolder, file));
  fs.writeFileSync(project, JSON.stringify({ compilerOptions, files: absolute }));
  const { stdout, status } = spawnSync(compiler, ['--project', project], { encoding: 'utf8' });
  assert.equal(status, 0, stdout);
}

test('they compile without those of disposables', needsCompiler, () => {
  compile(['tests/types/usage.mts']);
});

test('and with them', needsDisposables, () => {
  compile(['tests/types/usage.mts', 'tests/types/disposables.mts'], { disposables: true });
});

test('and with what @types/node declares for compilers without them', needsCompiler, () => {
  const file = path.join(folder, 'disposable.d.ts');
  fs.writeFileSync(file, `
    interface SymbolConstructor {
      readonly dispose: unique symbol;
      readonly asyncDispose: unique symbol;
    }
    interface AsyncDisposable { [Symbol.asyncDispose](): PromiseLike<void>; }`);
  compile([file, 'tests/types/usage.mts']);
});

/** The code of a page, each block a file: those without imports are what a caller writes who has a
 *  client and what else these names say. */
function samplesOf(page, language) {
  const blocks = [...fs.readFileSync(page, 'utf8').matchAll(/^```(\w+)\n([^]*?)^```/gm)];
  return blocks.filter(([, written]) => written === language).map(([, , code], i) => {
    const file = path.join(folder, `${path.basename(page, '.md')}_${language}_${i}.mts`);
    const known = `
      declare const process: { argv: string[]; once(name: string, done: () => void): void };
      declare const storage: { write(what: string, token: number | null): Promise<void> };
      declare const invoice: string;
      declare function work(signal: AbortSignal): Promise<void>;`;
    fs.writeFileSync(file, code.startsWith('import ') ? `${code}${known}` : `
      import {
        Client, RedlockError, allOf, deployment, interval, now, owned, permit, shared,
      } from 'quorum-redlock';
      import type { Lease } from 'quorum-redlock';
      declare const client: Client;
      declare const token: string;
      declare const text: string;
      declare const signal: AbortSignal;
      ${known}
      export async function sample() {\n${code}\n}`);
    return file;
  });
}

const pages = [`${packageFolder}/README.md`, ...(process.env.REDLOCK_PAGES ?? '').split(':')];
for (const page of pages.filter((name) => name !== '')) {
  test(`what ${path.basename(page)} shows compiles`, needsCompiler, () => {
    const samples = samplesOf(page, 'js');
    assert.ok(samples.length > 0);
    compile(samples);
  });
  test(`and what it shows in TypeScript`, needsDisposables, () => {
    const samples = samplesOf(page, 'ts');
    if (samples.length > 0) compile(samples, { disposables: true });
  });
}

test('what README.md names in its text exists', needsCompiler, () => {
  const text = fs.readFileSync(`${packageFolder}/README.md`, 'utf8').replace(/^```[^]*?^```/gm, '');
  const spans = [...text.matchAll(/`([^`]+)`/g)].map(([, span]) => span).join(' ');
  const [table] = /^\| lease \|[^]*?\n\n/m.exec(text);
  const names = new Set([
    ...spans.match(/\b(?:client|lease|leadership|election)\.\w+/g),
    ...table.split('\n|').slice(2).flatMap((row) =>
      [...row.split('|')[0].matchAll(/`(\w+)/g)].map(([, name]) => `lease.${name}`)),
  ]);
  assert.ok(names.size > 12);
  const file = path.join(folder, 'names.mts');
  fs.writeFileSync(file, `
    import type { Client, Election, Leadership, Lease } from 'quorum-redlock';
    declare const client: Client, lease: Lease, leadership: Leadership, election: Election;
    export const all: unknown[] = [${[...names].join(', ')}];`);
  compile([file]);
});

test('the declarations name what there is', () => {
  const declared = [...declarations.matchAll(/^export (?:class|function|const) (\w+)/gm)];
  const exported = Object.keys(quorumRedlock).filter((name) => name !== 'default');
  assert.deepEqual(declared.map(([, name]) => name).sort(), exported.sort());
  assert.deepEqual(Object.keys(quorumRedlock.default).sort(), exported);
});

const union = (name) => {
  const [, members] = new RegExp(`^export type ${name} =([^;]*);`, 'm').exec(declarations);
  return new Set([...members.matchAll(/'([^']*)'/g)].map(([, member]) => member));
};

const header = process.env.REDLOCK_HEADER;
test('the unions are the names of the constants of redlock.h',
  { skip: !header && 'REDLOCK_HEADER does not name it' }, () => {
    const text = fs.readFileSync(header, 'utf8');
    /** The constants of the enumeration after this type, without their prefix. */
    const constants = (type, prefix, separator = '_') => {
      const [, body] = new RegExp(`typedef int32_t ${type};\\s*enum \\{([^}]*)\\}`).exec(text);
      const names = [...body.matchAll(/^ *REDLOCK_(\w+) =/gm)].map(([, name]) => name);
      return names.map((name) => {
        assert.ok(name.startsWith(prefix), name);
        return name.slice(prefix.length).toLowerCase().replaceAll('_', separator);
      });
    };
    const same = (name, names, ...more) =>
      assert.deepEqual([...union(name)].sort(), [...names, ...more].sort(), name);
    const [ok, ...failures] = constants('redlock_status', '');
    assert.equal(ok, 'ok');
    same('ErrorCode', failures, 'lost', 'unknown');
    same('Vote', constants('redlock_vote', 'VOTE_'), 'unknown');
    same('NodeEventKind', constants('redlock_node_event_kind', 'NODE_', '-'), 'unknown');
    same('EventLevel', constants('redlock_event_level', 'LEVEL_'), 'unknown');
    same('ObservationKind', constants('redlock_observation_kind', '', '-'), 'unknown');
    const kinds = constants('redlock_holder_kind', 'HOLDER_').filter((kind) => kind !== 'none');
    same('HolderKind', kinds, 'unknown');
    same('LockKind', constants('redlock_lock_kind', 'LOCK_'), 'unknown');
    same('LockState', constants('redlock_state', 'STATE_'), 'unknown');
    const [, ends] = /const char\* end;[^\n]*hold ended: ([^;]*);/.exec(text);
    same('HoldEnd', [...ends.matchAll(/"(\w+)"/g)].map(([, end]) => end), 'open', 'unknown');
  });
