'use strict';

/** Why a call failed. */
class RedlockError extends Error {
  constructor({ code, message, holderName = '', round = null }) {
    super(message);
    this.code = code;
    this.holderName = holderName;
    this.round = round;
  }

  get votes() {
    return this.round === null ? [] : this.round.votes;
  }
}
Object.defineProperty(RedlockError.prototype, 'name', { value: 'RedlockError' });

/** A refused argument, as the library refuses it. */
const invalid = (message) => new RedlockError({ code: 'invalid_argument', message });
/** An argument of a wrong type: a TypeError, which has the same code. */
const wrongType = (message) =>
  Object.assign(new TypeError(message), { code: 'invalid_argument' });

const closed = () => new RedlockError({ code: 'closed', message: 'the client is closed' });

module.exports = { RedlockError, closed, invalid, wrongType };
