'use strict';

const { RedlockError } = require('./error.cjs');

/** A fencing token of the library as a number. All tokens are below 2^53, where numbers are exact. A
 *  larger one would be a mistake of the library, and is not rounded: two leases could share it. */
function fencingToken(given) {
  if (given === null || Number.isSafeInteger(given)) return given;
  throw new RedlockError({
    code: 'internal', message: `the fencing token ${given} is not below 2^53`,
  });
}

/** The inspection, whose nodes have such tokens. */
function checkedInspection(inspection) {
  for (const node of inspection.nodes) fencingToken(node.fencingToken);
  return inspection;
}

module.exports = { fencingToken, checkedInspection };
