'use strict'
/*
 * What `npm run bench -- NAME`, `npm run check -- NAME` and `npm run make -- NAME` run. Without a name each lists its own.
 *
 * An entry: what it does, the program with its arguments, and optionally variables (`env`), whether the built parts are needed first (`built`), and
 * which programs of Debian (`programs`: a suite of scripts/test-programs.mjs). Further arguments of the caller are appended.
 */
var vitest = ['node_modules/vitest/vitest.mjs', 'run']
function tests(says, args, env, programs) {
  return { says: says, run: vitest.concat(args), env: env, built: true, programs: programs || 'rest' }
}
function bench(says, file, args) {
  return { says: says, run: ['bench/' + file].concat(args || []), built: true }
}
/** A check whose program is in `bench/`, as are the hosts and loads that it shares with the benchmarks. */
var longRun = bench

exports.bench = {
  all: bench('the hot paths on both engines beside goals and limits; BENCH=short, BENCH=long', 'main.ts'),
  targets: Object.assign(bench('what is promised of writing only', 'main.ts'), { env: { BENCH: 'targets' } }),
  admission: bench('what a request costs before its own work begins', 'admission.ts'),
  attackers: bench('bans grouped by address: memory, CPU of a page, cost of a ban', 'attackers.ts'),
  click: bench('a click until the kernel has it, with 10 to 100,000 entries', 'click.ts'),
  dashboard: bench('how fast pages are and what a cold page loads', 'dashboard.ts'),
  'fleet-bans': bench('fleet bans on many hosts', 'fleet-bans.ts'),
  fleetsim: bench('a simulated fleet against a server; loses nothing that was acknowledged', 'fleet/main.ts'),
  flood: bench('a flood of requests', 'flood.ts'),
  flows: bench('how many taps the daily flows take', 'flows.ts'),
  'hundred-million': bench('reads from the sums of a hundred million bans', 'hundred-million.ts'),
  junk: bench('bodies of junk to every endpoint, and how long the event loop stands still', 'junk.ts'),
  logins: bench('many sign-ins at once', 'logins.ts'),
  memory: bench('memory of the server with few and many hosts', 'memory.ts'),
  metrics: bench('the page of metrics of large fleets', 'metrics.ts'),
  pages: bench('what each page of the demo asks for and how far it moves', 'pages.ts'),
  bouncers: bench("a feed as bouncers read it, beside CrowdSec's local API", 'bouncers.ts'),
  enrolment: bench('10,000 hosts by one token', 'enrolment.ts'),
  peers: bench("reports and heartbeats beside CrowdSec's local API", 'peers/main.ts'),
  postgres: bench('reported bans on a PostgreSQL that waits for its disk', 'postgres.ts'),
  'reads-postgres': bench('pages and statistics on PostgreSQL', 'reads-postgres.ts'),
  rest: bench('what the agent needs of a core and of memory while nothing happens', 'rest.ts'),
  retention: bench('removal of old bans on SQLite', 'retention.ts'),
  'retention-postgres': bench('removal of old bans on PostgreSQL', 'retention-postgres.ts'),
  rules: bench('sharing rules over many bans', 'rules.ts'),
  shield: bench("the agent's tables in the kernel, with 10 to 100,000 entries", 'shield.ts'),
  siem: bench('events a second to SIEM receivers', 'siem.ts'),
  statements: bench('the statements of a report', 'statements.ts'),
  whitelist: bench('a whitelist of 500,000 entries', 'whitelist.ts'),
}

exports.check = {
  whole: tests('each test on each engine, each page in each look', [], { STOCKADE_TEST_WHOLE: '1' }),
  pair: tests("the server's suite against two processes behind HAProxy", ['--project', 'pair'], {
    STOCKADE_TEST_WHOLE: '1',
  }),
  ship: tests(
    'the packages on real systemd, as root on Debian',
    ['--project', 'ship', '--no-file-parallelism'],
    { STOCKADE_TEST_SHIP: '1', STOCKADE_TEST_PATIENCE: '240000' },
    'ship',
  ),
  accessible: tests(
    'every page judged by axe in three sizes and both schemes',
    ['--project', 'browser', 'tests/browser/accessible', 'tests/browser/identity'],
    { STOCKADE_TEST_WHOLE: '1' },
  ),
  access: tests('every endpoint asked as every kind of caller', ['--project', 'sqlite', 'packages/server/test/guard']),
  clients: tests('three generated API clients used against a server', [
    '--project',
    'sqlite',
    'packages/server/test/clients',
  ]),
  openapi: tests('the OpenAPI document by the rules of redocly.yaml', [
    '--project',
    'unit',
    'packages/server/src/http/openapi',
  ]),
  calm: tests(
    'two hours in which nothing happens and nothing is reported',
    ['--project', 'engine', 'tests/e2e/calm-hours'],
    {
      CALM_MINUTES: '120',
      STOCKADE_TEST_PATIENCE: '600000',
    },
  ),
  sabotage: {
    says: 'damaged hosts with three versions of fail2ban and five kinds of firewall',
    run: ['scripts/sabotage.mjs'],
    built: true,
    programs: 'rest',
  },
  prometheus: {
    says: 'the same damage for one host, with Prometheus and Alertmanager behind a server',
    run: ['scripts/sabotage.mjs'],
    env: { STOCKADE_TEST_PROMETHEUS: '1', SABOTAGE_ENGINES: 'installed', SABOTAGE_FIREWALLS: 'nftables' },
    built: true,
    programs: 'rest',
  },
  rollout: tests(
    'an upgrade of 200 simulated agents in waves',
    ['--project', 'sqlite', 'packages/server/src/features/rollouts'],
    {
      STOCKADE_TEST_ROLLOUT_HOSTS: '200',
    },
  ),
  'chaos-upgrade': tests(
    'an upgrader of the agent killed before each step',
    ['--project', 'unit', 'packages/agent/test/upgrade'],
    {
      UPGRADE_KILLS: 'all',
      STOCKADE_TEST_PATIENCE: '300000',
    },
  ),
  'chaos-siem': tests(
    'SIEM receivers killed 100 times during 10,000 events',
    ['--project', 'engine', 'tests/siem/kills'],
    {
      SIEM_KILLS: '100',
      STOCKADE_TEST_PATIENCE: '300000',
      SIEM_EVENTS: '10000',
    },
  ),
  chaos: longRun('kills, cut connections, a full disk, overload; loses nothing that was acknowledged', 'chaos.ts'),
  'fleet-day': longRun('a day of fleet bans, lists, outages and lies for 1,000 hosts', 'fleet-sim.ts'),
  'stolen-host': longRun(
    'one host of 50 sends all that its key can, for ten minutes; nothing of others changes',
    'stolen-host.ts',
  ),
  soak: longRun('two hours of 500 hosts', 'fleet/main.ts', [
    ...['--agents', '500', '--bans-per-second', '500', '--seconds', '7200'],
    ...['--batches', '10', '--whitelist-changes', '10'],
  ]),
  repeat: {
    says: '`npm test` ten times from fresh clones: quiet, beside busy loops, on one core',
    run: ['scripts/repeat.mjs'],
  },
  'fuzz-groups': { says: 'a million mutations of tags, groups and variables', run: ['tests/fuzz/groups.ts'] },
  'fuzz-templates': { says: "made-up templates against fail2ban's own reading", run: ['tests/fuzz/templates.ts'] },
}

exports.make = {
  pictures: { says: 'the pictures of the README and of each page, taken of the demo', run: ['demo/pictures.ts'] },
  routes: { says: 'every endpoint: access, place in the contract, routes that serve it', run: ['scripts/routes.mjs'] },
  access: { says: 'the table of SECURITY.md: what each credential reaches', run: ['scripts/access.mjs'] },
  spec: { says: 'docs/spec/endpoints.md from the contract', run: ['scripts/spec.mjs'] },
  openapi: { says: 'the OpenAPI document: to a FILE, else to standard output', run: ['scripts/openapi.mjs'] },
}

/** The list of a task's names, a line each. */
exports.listOf = function (task) {
  var entries = exports[task]
  return Object.keys(entries)
    .map(function (name) {
      return '  ' + name.padEnd(20) + entries[name].says
    })
    .join('\n')
}
