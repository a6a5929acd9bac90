#!/usr/bin/env node
'use strict'
/*
 * Runs the command line on a Node that is new enough: the one among the packages, else this one.
 * Plain old JavaScript, so that an old Node can read it and say what to do.
 */
var fs = require('fs')
var path = require('path')
var childProcess = require('child_process')
var compiled = require('./compiled.cjs')
var programs = require('../packages/server/programs.cjs')

var root = path.resolve(__dirname, '..')
var entry = programs.program('server/src/admin/main')
var version = process.versions.node.split('.').map(Number)
var own = path.join(root, 'node_modules', '.bin', 'node')
var isNew = version[0] > 23 || (version[0] === 22 && version[1] >= 19)
var program = fs.existsSync(own) ? own : process.execPath
if (!fs.existsSync(path.join(root, 'node_modules')) || (program !== own && !isNew)) {
  process.stderr.write('stockade: run npm install first\n')
  process.exit(1)
}
var options = { stdio: 'inherit', env: compiled.environment(root) }
// `npm start` runs the server in the checkout: what works on its storage means the same relative data folder.
options.env.STOCKADE_CHECKOUT = root
var child = childProcess.spawn(program, [entry].concat(process.argv.slice(2)), options)
;['SIGTERM', 'SIGINT'].forEach(function (signal) {
  process.on(signal, function () {
    // A terminal sends Ctrl-C to both.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
  })
})
child.on('error', function (error) {
  process.stderr.write('stockade: ' + error.message + '\n')
  process.exit(1)
})
child.on('exit', function (code, signal) {
  process.exit(code === null ? (signal === 'SIGINT' ? 130 : 1) : code)
})
