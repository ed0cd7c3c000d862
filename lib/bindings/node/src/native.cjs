'use strict';

// Loads the addon.
//
// Node.js has a libuv and an OpenSSL within itself and shows their functions to whatever it loads,
// by the same names as those of the system's libraries, which the addon is compiled for. With
// RTLD_DEEPBIND the addon's own libraries come first. Without it, it would get functions of other
// versions, some of them from here and some from there.

const { constants } = require('node:os');
const path = require('node:path');

const { RTLD_NOW, RTLD_DEEPBIND = 0 } = constants.dlopen; // macOS does without

const addon = { exports: {} };
process.dlopen(
  addon, path.join(__dirname, '..', 'quorum_redlock.node'), RTLD_NOW | RTLD_DEEPBIND);

module.exports = addon.exports;
