'use strict';

const { inspect } = require('node:util');

/** Makes console.log and util.inspect show of an object what its `toJSON` returns, which has no
 *  secrets, after the name of its class. */
function showWithoutSecrets(Class) {
  const show = function show(depth, options, print) {
    if (depth < 0) return options.stylize(`[${Class.name}]`, 'special');
    return `${Class.name} ${print(this.toJSON(), options)}`;
  };
  Object.defineProperty(Class.prototype, inspect.custom, { value: show });
}

/** The URL of a node without user, password and query. Unix sockets have none of the first two, and
 *  their paths may contain an '@'. */
const shownUrl = (url) =>
  url.replace(/\?.*$/s, '').replace(/^(?!unix:)([^/]*:\/\/)?.*@/si, '$1');

module.exports = { showWithoutSecrets, shownUrl };
