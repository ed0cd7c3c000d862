'use strict';

const { invalid, wrongType } = require('./error.cjs');
const { check, pick } = require('./options.cjs');

// The targets of redlock.h, by the numbers that it gives them.
const kinds = { exclusive: 0, shared: 1, owned: 2, permit: 3, allOf: 4 };

const table = {
  kind: 'text', resource: 'text', resources: 'texts', owner: 'text', permits: 'count',
  interval: 'duration',
};

const shared = (resource) => ({ kind: 'shared', resource });
const owned = (resource, owner) => ({ kind: 'owned', resource, owner });
const permit = (resource, permits, { interval } = {}) =>
  ({ kind: 'permit', resource, permits, interval });
const allOf = (resources, { interval } = {}) => ({ kind: 'allOf', resources, interval });
const interval = (resource, interval) => ({ kind: 'exclusive', resource, interval });

/** The target as the addon reads it. A text is the exclusive lock on the resource of this name. */
function nativeTarget(given) {
  if (typeof given === 'string') {
    return { kind: kinds.exclusive, resource: check('text', given, 'resource') };
  }
  if (given === null || typeof given !== 'object') {
    throw wrongType('the resource is neither a string nor a target such as shared(…) makes');
  }
  const { kind = 'exclusive', resources, ...rest } = pick(given, table, 'target');
  if (!Object.hasOwn(kinds, kind)) {
    throw wrongType(
      `target.kind '${kind}': one of ${Object.keys(kinds).join(', ')} is allowed`);
  }
  if ((kind === 'allOf') !== (resources !== undefined)) {
    throw wrongType(`a target of the kind ${kind} needs `
      + (kind === 'allOf' ? 'an array of resources' : 'one resource'));
  }
  if (resources?.length === 0) throw invalid('target.resources: at least one is needed');
  const [resource, ...moreResources] = resources ?? [rest.resource];
  if (resource === undefined) throw wrongType('the target has no resource');
  return { ...rest, kind: kinds[kind], resource, moreResources };
}

module.exports = {
  shared, owned, permit, allOf, interval, nativeTarget,
  resourceName: (given) => check('text', given, 'resource'),
  tokenText: (given) => check('text', given, 'token'),
};
