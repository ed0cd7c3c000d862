'use strict';

// Loads the addon.
//
// Node.js contains a libuv and an OpenSSL, and exports their functions to everything that it loads.
// They have the names of the functions in the system's libraries, for which the addon is compiled.
// With RTLD_DEEPBIND the addon's own libraries come first. Without it, the addon would get a
// mixture of functions from both versions.

const fs = require('node:fs');
const { constants } = require('node:os');
const path = require('node:path');

const { RTLD_NOW, RTLD_DEEPBIND = 0 } = constants.dlopen; // macOS does not need it

const file = path.join(__dirname, '..', 'quorum_redlock.node');
const addon = { exports: {} };
try {
  process.dlopen(addon, file, RTLD_NOW | RTLD_DEEPBIND);
} catch (error) {
  // npm rebuild runs ../install.cjs, which says what is missing.
  const [why] = fs.existsSync(file) ? error.message.split('\n') : ['it was not compiled'];
  throw Object.assign(
    new Error(`quorum-redlock cannot load its addon: ${why}; npm rebuild quorum-redlock compiles `
      + 'it', { cause: error }), { code: error.code });
}

module.exports = addon.exports;
