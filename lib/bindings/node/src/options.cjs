'use strict';

// Checks the arguments of callers. A mistake that TypeScript finds, too, is a TypeError: a wrong
// type, or an unknown name. Any other value that is not allowed is a RedlockError, here and in the
// library, which checks the rest.

const native = require('./native.cjs');
const { invalid, wrongType } = require('./error.cjs');

/** What is wrong with a text that no text in UTF-8 can have, or that would end it in C. */
const flawOf = (text) =>
  text.includes('\0') ? 'contains the character U+0000, which is not allowed'
    // With the flag u, these are halves without the other half: different texts would become the
    // same in UTF-8.
    : /[\ud800-\udfff]/u.test(text) ? 'contains half of a surrogate pair, which is not allowed'
    : undefined;

// For each kind: the words for it, whether a value has its type, and whether a value of that type is
// allowed. flawOf says that of texts.
const checks = {
  text: ['a string', (value) => typeof value === 'string'],
  secret: ['a string', (value) => typeof value === 'string'],
  texts: ['an array of strings',
    (value) => Array.isArray(value) && value.every((one) => typeof one === 'string')],
  flag: ['true or false', (value) => typeof value === 'boolean'],
  duration: ['a number of milliseconds, from 0 to Infinity,',
    (value) => typeof value === 'number', (value) => value >= 0],
  count: ['a whole number from 0 on', (value) => typeof value === 'number',
    (value) => value === Infinity || (Number.isSafeInteger(value) && value >= 0)],
  callback: ['a function', (value) => typeof value === 'function'],
  signal: ['an AbortSignal', (value) => value instanceof AbortSignal],
  object: ['an object', (value) => typeof value === 'object'],
};
const texts = new Set(['text', 'secret', 'texts']);

function check(kind, value, where) {
  const [expected, hasType, isAllowed = () => true] = checks[kind];
  const mistake = () => `${where}: ${expected} is needed, not `
    + (kind === 'secret' ? `a value of type ${typeof value}` : describe(value));
  if (!hasType(value)) throw wrongType(mistake());
  if (!isAllowed(value)) throw invalid(mistake());
  if (texts.has(kind)) {
    const flaw = [value].flat().map(flawOf).find((found) => found !== undefined);
    if (flaw !== undefined) throw invalid(`${where}: it ${flaw}`);
  }
  return value;
}

function describe(value) {
  return typeof value === 'string' ? `'${value}'`
    : typeof value === 'object' || typeof value === 'function' ? `a value of type ${typeof value}`
    : String(value);
}

/** The members of `table` that are given. Its values are kinds of `checks`; or begin with one; or
 *  are tables themselves. */
function pick(given, table, where) {
  const picked = {};
  if (given === undefined || given === null) return picked;
  check('object', given, where);
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(table, name)) {
      throw wrongType(
        `${where}.${name} is not known; known are ${Object.keys(table).join(', ')}`);
    }
    if (value === undefined || value === null) continue;
    const row = table[name];
    picked[name] = typeof row === 'string' || Array.isArray(row)
      ? check([row].flat()[0], value, `${where}.${name}`) : pick(value, row, `${where}.${name}`);
  }
  return picked;
}

const groups = { tls: 'tls', node: 'node', guard: 'guards' };

/** Each option by its name here, with its kind and its member of the struct in C. */
function rowsOf(options) {
  const rows = {};
  for (const [kind, member] of options) {
    const [, group, name] = /^(?:(tls|node|guard)_)?(.*?)(?:_ns)?$/.exec(member);
    const into = group === undefined ? rows : rows[groups[group]] ??= {};
    into[name.replace(/_(.)/g, (_, letter) => letter.toUpperCase())] = [kind, member];
  }
  return rows;
}
const clientRows = rowsOf(native.clientOptions);
const acquireRows = rowsOf(native.acquireOptions);

/** What was picked by `rows`, by the names of C. */
function nativeOf(picked, rows) {
  const named = {};
  for (const [name, row] of Object.entries(rows)) {
    if (!Object.hasOwn(picked, name)) continue;
    if (Array.isArray(row)) named[row[1]] = picked[name];
    else Object.assign(named, nativeOf(picked[name], row));
  }
  return named;
}

/** → {native, onNodeEvent, onObservation, credentials, onLog} */
function clientOptions(given) {
  const picked = pick(given, {
    nodes: 'texts', ...clientRows, onNodeEvent: 'callback', onObservation: 'callback',
    credentials: 'callback', onLog: 'callback',
  }, 'options');
  const { nodes, onNodeEvent, onObservation, credentials, onLog } = picked;
  return {
    native: { nodes, ...nativeOf(picked, clientRows) },
    onNodeEvent, onObservation, credentials, onLog,
  };
}

/** → {native, ttl, wait, signal, onAtRisk} */
function acquireOptions(given) {
  const picked = pick(given, {
    ...acquireRows, wait: 'duration', signal: 'signal', onAtRisk: 'callback',
  }, 'options');
  const { ttl = native.defaultTtl, wait = Infinity, signal, onAtRisk } = picked;
  return { native: nativeOf(picked, acquireRows), ttl, wait, signal, onAtRisk };
}

module.exports = { check, pick, clientOptions, acquireOptions };
