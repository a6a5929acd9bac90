'use strict'
var fs = require('fs')
var path = require('path')

/*
 * Node keeps what it compiled, so that the next start takes half as long: in the installation, where nobody writes who
 * could not change the program itself, and only for its owner, so that nobody else's files get in the way of an update.
 */

/** This process's environment for a child, with the place of the compiled code where it may be used. */
exports.environment = function (root) {
  var env = Object.assign({}, process.env)
  try {
    var modules = path.join(root, 'node_modules')
    if (env.NODE_COMPILE_CACHE === undefined && fs.statSync(modules).uid === process.getuid())
      env.NODE_COMPILE_CACHE = path.join(modules, '.cache', 'compiled')
  } catch (error) {
    // Without it everything works, a little later.
  }
  return env
}
