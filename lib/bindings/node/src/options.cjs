'use strict';

// Checks the options of callers: a mistake in a name or a type is a TypeError that names it, NaN or
// a negative number a RangeError. All other values are the library's to judge.

const { invalid } = require('./error.cjs');

const checks = {
  text: ['a string', (value) => typeof value === 'string'],
  secret: ['a string', (value) => typeof value === 'string'],
  texts: ['an array of strings',
    (value) => Array.isArray(value) && value.every((one) => typeof one === 'string')],
  flag: ['true or false', (value) => typeof value === 'boolean'],
  duration: ['a number of milliseconds, from 0 to Infinity,',
    (value) => typeof value === 'number' && value >= 0],
  count: ['a whole number from 0 on',
    (value) => value === Infinity || (Number.isSafeInteger(value) && value >= 0)],
  callback: ['a function', (value) => typeof value === 'function'],
  signal: ['an AbortSignal', (value) => value instanceof AbortSignal],
  object: ['an object', (value) => typeof value === 'object'],
  switch: ['true, false or an object',
    (value) => typeof value === 'boolean' || typeof value === 'object'],
};

function check(kind, value, where) {
  const [expected, accepts] = checks[kind];
  if (!accepts(value)) {
    const what = kind === 'secret' ? `a value of type ${typeof value}` : describe(value);
    throw invalid(`${where}: ${expected} is needed, not ${what}`,
      typeof value === 'number' && (kind === 'duration' || kind === 'count')
        ? RangeError : TypeError);
  }
  return value;
}

function describe(value) {
  return typeof value === 'string' ? `'${value}'`
    : typeof value === 'object' || typeof value === 'function' ? `a value of type ${typeof value}`
    : String(value);
}

/** The members of `table` that are given. The values of `table` are kinds of `checks`. */
function pick(given, table, where) {
  const picked = {};
  if (given === undefined || given === null) return picked;
  check('object', given, where);
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(table, name)) {
      throw invalid(
        `${where}.${name} is not known; known are ${Object.keys(table).join(', ')}`);
    }
    if (value === undefined || value === null) continue;
    picked[name] = check(table[name], value, `${where}.${name}`);
  }
  return picked;
}

const clientTable = {
  nodes: 'texts', quorum: 'count', name: 'text', user: 'text', password: 'secret', tls: 'object',
  guards: 'object', shortestNodeLimit: 'duration', longestNodeLimit: 'duration',
  connectTimeout: 'duration', maxTtl: 'duration', nameHolders: 'flag', plainCommands: 'flag',
  onNodeEvent: 'callback', onObservation: 'callback', prefix: 'text', passwordFile: 'text',
  credentials: 'callback', onLog: 'callback',
};
const tlsTable = {
  caFile: 'text', certificateFile: 'text', keyFile: 'text', serverName: 'text',
};
const guardsTable = {
  restart: 'flag', clock: 'flag', quarantine: 'duration', clockBound: 'duration',
  trustDurable: 'flag',
};

/** → {native, onNodeEvent, onObservation, credentials, onLog} */
function clientOptions(given) {
  const { tls, guards, onNodeEvent, onObservation, credentials, onLog, ...rest } =
    pick(given, clientTable, 'options');
  const { restart: guardRestart, clock: guardClock, ...moreGuards } =
    pick(guards, guardsTable, 'options.guards');
  const native = {
    ...rest, ...pick(tls, tlsTable, 'options.tls'), guardRestart, guardClock, ...moreGuards,
  };
  return { native, onNodeEvent, onObservation, credentials, onLog };
}

const acquireTable = {
  ttl: 'duration', wait: 'duration', signal: 'signal', renew: 'flag', maxHold: 'duration',
  maxRenewals: 'count', fencing: 'flag', name: 'text', orphanTtl: 'duration',
  onAtRisk: 'callback',
};

/** → {native, wait, signal, onAtRisk} */
function acquireOptions(given) {
  const { wait = Infinity, signal, onAtRisk, ...native } = pick(given, acquireTable, 'options');
  return { native, wait, signal, onAtRisk };
}

module.exports = { check, pick, clientOptions, acquireOptions };
