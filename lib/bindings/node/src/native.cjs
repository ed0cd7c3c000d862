'use strict';

// Loads the addon.
//
// Node.js has a libuv and an OpenSSL within itself and shows their functions to whatever it loads,
// by the same names as those of the system's libraries, which the addon is compiled for. With
// RTLD_DEEPBIND the addon's own libraries come first. Without it, it would get functions of other
// versions, some of them from here and some from there.

const fs = require('node:fs');
const { constants } = require('node:os');
const path = require('node:path');

const { RTLD_NOW, RTLD_DEEPBIND = 0 } = constants.dlopen; // macOS does without

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
