'use strict';

const { invalid } = require('./error.cjs');
const { check } = require('./options.cjs');
const { showWithoutSecrets } = require('./shown.cjs');

/** A lock on its way to another owner: what `lease.detach()` returns. Its text is what
 *  `client.adopt` takes, in any process and by any of the libraries. */
class DetachedLease {
  #text;
  #token;

  constructor(text) {
    const fields = check('text', text, 'detached').trim().split(',').map(unescaped);
    const fencingToken = Number(fields[2]);
    if (fields.length < 6 || fields[0] !== '1' || !/^[0-9]+$/.test(fields[2])
      || !Number.isSafeInteger(fencingToken)) {
      throw invalid('detached: it is nothing that lease.detach() returned');
    }
    this.#text = text;
    this.#token = fields[1];
    this.fencingToken = fencingToken === 0 ? null : fencingToken;
    this.resources = Object.freeze(fields.slice(5));
    Object.freeze(this);
  }

  // Not properties of the object itself, which dumps and copies of objects contain.
  get text() {
    return this.#text;
  }

  get token() {
    return this.#token;
  }

  get resource() {
    return this.resources[0];
  }

  toString() {
    return this.#text;
  }

  toJSON() {
    const { resource, resources, fencingToken } = this;
    return { resource, resources, fencingToken };
  }
}
showWithoutSecrets(DetachedLease);

function unescaped(field) {
  try {
    return decodeURIComponent(field);
  } catch {
    return field; // a name that is no UTF-8
  }
}

module.exports = { DetachedLease };
