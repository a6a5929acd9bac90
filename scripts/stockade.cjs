#!/usr/bin/env node
'use strict'
/*
 * Runs the command line on a Node that is new enough: this one, or the one among the packages. Plain old JavaScript,
 * so that an old Node can read it and say what to do.
 */
var fs = require('fs')
var path = require('path')
var childProcess = require('child_process')

var root = path.resolve(__dirname, '..')
var entry = path.join(root, 'packages', 'cli', 'src', 'main.ts')
var version = process.versions.node.split('.').map(Number)
var own = path.join(root, 'node_modules', '.bin', 'node')
var program = version[0] > 22 || (version[0] === 22 && version[1] >= 19) ? process.execPath : own
if (!fs.existsSync(path.join(root, 'node_modules')) || !fs.existsSync(program)) {
  process.stderr.write('stockade: run npm install first\n')
  process.exit(1)
}
var child = childProcess.spawn(program, [entry].concat(process.argv.slice(2)), { stdio: 'inherit' })
;['SIGTERM', 'SIGINT'].forEach(function (signal) {
  process.on(signal, function () {
    child.kill(signal)
  })
})
child.on('exit', function (code) {
  process.exit(code === null ? 1 : code)
})
