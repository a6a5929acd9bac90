#!/usr/bin/env node
'use strict'
/*
 * All commands of package.json begin here. It runs on any Node that is there, also an old one, and brings the rest: the packages (with the Node
 * that Stockade runs on among them), the built parts, and for the tests on Debian as root the programs that they speak to.
 */
var childProcess = require('child_process')
var fs = require('fs')
var path = require('path')
var compiled = require('./compiled.cjs')
var named = require('./named.cjs')
var programs = require('../packages/server/programs.cjs')

var root = path.resolve(__dirname, '..')
var bin = path.join(root, 'node_modules', '.bin')
var task = process.argv[2]
var rest = process.argv.slice(3)

function say(text) {
  process.stderr.write('stockade: ' + text + '\n')
}
function mtime(file) {
  try {
    return fs.statSync(file).mtimeMs
  } catch (error) {
    return 0
  }
}
/** Runs a program and leaves with its code when it fails. */
function must(program, args, options) {
  var done = childProcess.spawnSync(program, args, Object.assign({ cwd: root, stdio: 'inherit' }, options))
  if (done.error) {
    say(program + ' did not run: ' + done.error.message)
    process.exit(1)
  }
  if (done.status !== 0) process.exit(done.status === null ? 1 : done.status)
}
/** Whether the process with this number runs. */
function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}
/** Whether the command that made the lock was killed. */
function isLeft(lock) {
  try {
    var owner = Number(fs.readFileSync(lock, 'utf8'))
    return owner > 0 && !isAlive(owner)
  } catch (error) {
    return false
  }
}
/** Does what two commands in one checkout must not do at once, such as `npm start` and `npm test` in two terminals. */
function alone(work) {
  var lock = path.join(root, '.preparing')
  var isTold = false
  for (;;) {
    try {
      fs.writeFileSync(lock, String(process.pid), { flag: 'wx' })
      break
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    if (isLeft(lock)) fs.unlinkSync(lock)
    else if (!isTold) say('another command prepares this checkout; waiting for it')
    isTold = true
    childProcess.spawnSync(process.execPath, ['-e', 'setTimeout(Function(), 1000)'])
  }
  var release = function () {
    try {
      fs.unlinkSync(lock)
    } catch (error) {
      // It is gone already.
    }
  }
  process.once('exit', release)
  work()
  process.removeListener('exit', release)
  release()
}
function isInstalled() {
  // npm writes the hidden lockfile last: when it is newer than ours, everything in ours is installed.
  var installed = mtime(path.join(root, 'node_modules', '.package-lock.json'))
  return installed > 0 && installed >= mtime(path.join(root, 'package-lock.json'))
}
function install() {
  if (isInstalled()) return
  alone(function () {
    if (isInstalled()) return
    say('installing packages (once, about half a minute)')
    must('npm', ['ci', '--no-audit', '--no-fund'], { shell: process.platform === 'win32' })
    fs.utimesSync(path.join(root, 'node_modules', '.package-lock.json'), new Date(), new Date())
  })
}
/** The Node that Stockade runs on: the one among the packages, else this one where it is new enough. */
function node() {
  var own = path.join(bin, 'node')
  if (fs.existsSync(own)) return own
  var version = process.versions.node.split('.').map(Number)
  if (version[0] > 22 || (version[0] === 22 && version[1] >= 19)) return process.execPath
  say('this needs Node 22.19 or newer, and the one that comes with the packages is missing. Run: npm install')
  process.exit(1)
}
/** Asked for once the packages are there. */
function environment() {
  // glibc keeps an arena of freed memory for each thread: one for all of them saves 10 to 30 MB.
  return Object.assign({ MALLOC_ARENA_MAX: '1' }, compiled.environment(root), {
    PATH: bin + path.delimiter + process.env.PATH,
  })
}

/** A small young generation: 30 MB less memory at no CPU that could be measured. A bound, so that V8 lets the heap grow in smaller steps. */
var serverOptions = ['--max-semi-space-size=4', '--max-old-space-size=1024']

/** Runs until it ends, hands signals on, and ends as it ends. */
function hand(program, args) {
  var child = childProcess.spawn(program, args, { cwd: root, stdio: 'inherit', env: environment() })
  ;['SIGTERM', 'SIGINT', 'SIGHUP'].forEach(function (signal) {
    process.on(signal, function () {
      // A terminal sends Ctrl-C to both: the child stops by itself and must not get it twice.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    })
  })
  child.on('exit', function (code, signal) {
    process.exit(code === null ? (signal === 'SIGINT' ? 130 : 1) : code)
  })
}
function build() {
  alone(function () {
    must(node(), [path.join(root, 'scripts', 'build.mjs')], { env: environment() })
  })
}
function loadPrograms(suite) {
  must(node(), [path.join(root, 'scripts', 'test-programs.mjs'), suite], { env: environment() })
}

/** `npm run bench -- all NAME` and its like: the list without a name. */
function runNamed() {
  var name = rest[0]
  var entries = named[task]
  var entry = Object.prototype.hasOwnProperty.call(entries, name || '') && entries[name]
  if (!entry) {
    if (name) say('there is no ' + task + ' of the name ' + name)
    process.stdout.write('npm run ' + task + ' -- NAME\n\n' + named.listOf(task) + '\n')
    process.exit(name ? 2 : 0)
  }
  install()
  if (entry.programs) loadPrograms(entry.programs)
  // A benchmark measures what a release runs.
  if (entry.built) build()
  Object.assign(process.env, entry.env)
  hand(node(), entry.run.concat(rest.slice(1)))
}

/** The suites of `npm test` and `npm run test:all`; a part, which arguments name, is of all tests. */
function test(suite) {
  if (process.env.STOCKADE_TEST_SUITE) suite = process.env.STOCKADE_TEST_SUITE
  else if (rest.length > 0) suite = 'all'
  install()
  loadPrograms(suite)
  process.env.STOCKADE_TEST_SUITE = suite
  hand(node(), [path.join(root, 'scripts', 'test.mjs')].concat(rest))
}

var tasks = {
  build: function () {
    install()
    build()
  },
  start: function () {
    install()
    build()
    hand(node(), serverOptions.concat(programs.program('server/src/main'), rest))
  },
  demo: function () {
    install()
    build()
    hand(node(), [path.join(root, 'demo', 'main.ts')].concat(rest))
  },
  dev: function () {
    install()
    var isHost = rest[0] === 'host'
    hand(node(), [path.join(root, 'demo', isHost ? 'dev-host.ts' : 'dev.ts')].concat(isHost ? rest.slice(1) : rest))
  },
  release: function () {
    install()
    build()
    hand(node(), [path.join(root, 'scripts', 'release', 'main.ts')].concat(rest))
  },
  // A file of TypeScript, which an older Node does not run.
  script: function () {
    install()
    hand(node(), rest)
  },
  test: function () {
    test('daily')
  },
  'test-all': function () {
    test('all')
  },
  bench: runNamed,
  check: runNamed,
  make: runNamed,
}
if (!Object.prototype.hasOwnProperty.call(tasks, task || '')) {
  say('tell me what to do: ' + Object.keys(tasks).join(', '))
  process.exit(2)
}
tasks[task]()
