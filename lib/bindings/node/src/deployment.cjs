'use strict';

// The deployment as a whole, for operators. Each call makes connections of its own.

const { askDeployment } = require('./connection.cjs');
const { check, clientOptions, pick } = require('./options.cjs');

const changeTable = {
  patience: 'duration', signal: 'signal', onProgress: 'callback',
};
const bootstrapTable = { ...changeTable, afterLoss: 'flag' };
const listTable = { pattern: 'text', keysPerNode: 'count' };

/** The options that were picked, by the names of C. */
const listTerms = ({ pattern, keysPerNode }) => ({ pattern, keys_per_node: keysPerNode });
const changeTerms = ({ patience, afterLoss, signal, onProgress }) =>
  ({ patience_ns: patience, after_loss: afterLoss, signal, onProgress });

async function ask(call, options, terms) {
  check('object', options ?? undefined, 'options');
  const { native, credentials } = clientOptions(options);
  return await askDeployment(call, native, { credentials, ...terms });
}

const nodeName = (given, where) => check('text', given, where);

/** The calls that need no client. */
const deployment = Object.freeze({
  async check(options) {
    return await ask('check', options);
  },

  async bootstrap(options, change) {
    return await ask('bootstrap', options, changeTerms(pick(change, bootstrapTable, 'change')));
  },

  async members(options) {
    return await ask('members', options);
  },

  async replaceMember(options, leaving, entering, change) {
    return await ask('replaceMember', options, {
      leaving: nodeName(leaving, 'leaving'), entering: nodeName(entering, 'entering'),
      ...changeTerms(pick(change, changeTable, 'change')),
    });
  },

  async addMember(options, entering, change) {
    return await ask('addMember', options, {
      entering: nodeName(entering, 'entering'), ...changeTerms(pick(change, changeTable, 'change')),
    });
  },

  async removeMember(options, leaving, change) {
    return await ask('removeMember', options, {
      leaving: nodeName(leaving, 'leaving'), ...changeTerms(pick(change, changeTable, 'change')),
    });
  },

  async listLocks(options, which) {
    return await ask('listLocks', options, listTerms(pick(which, listTable, 'which')));
  },
});

/** The list of a client: by its options, which were checked, and its function for credentials. */
async function listLocks(native, credentials, which) {
  const terms = listTerms(pick(which, listTable, 'options'));
  return await askDeployment('listLocks', native, { credentials, ...terms });
}

module.exports = { deployment, listLocks };
