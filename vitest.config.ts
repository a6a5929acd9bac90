import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { conditionMs, testMs } from './packages/server/src/testing/waiting.ts'
import Lanes from './scripts/sequence.mjs'

/*
 * The server's suite runs twice, once on each storage engine. Tests that need a host's kernel (network namespaces,
 * nftables, fail2ban) or a browser are projects of their own.
 */
const common = {
  pool: 'forks',
  testTimeout: testMs,
  hookTimeout: testMs,
  expect: { poll: { timeout: conditionMs, interval: 100 } },
  setupFiles: process.env.STOCKADE_TEST_CPU ? ['./scripts/test-cpu.mjs'] : [],
} as const

/**
 * The files of a worker share its process: loading the server anew, cold, for each of them took a quarter of their CPU. So
 * what a file changes in the process it puts back, and a server is its own whole: nothing of it lives in a module.
 */
const shared = { ...common, isolate: false } as const

/**
 * Files of one group share the workers, and the groups run one after another. Tests with hosts change the network of this machine, at which a
 * browser drops its requests (`ERR_NETWORK_CHANGED`): so none of them may run beside the tests of pages. All others share one group, so that no
 * project waits for the last file of another one. There are more workers than cores, since tests with hosts and jobs wait for most of their time;
 * a browser works on its own. Each worker of each project loads what it tests, which takes two seconds of CPU.
 */
const cores = availableParallelism()
const workers = (groupOrder: number, maxWorkers: number) => ({ sequence: { groupOrder }, maxWorkers })
const together = workers(0, Math.min(2 * cores + 1, 13))
const ofPages = workers(1, Math.min(2 * cores, 8))

/**
 * Which tests run: `daily` is what `npm test` runs, `rest` what `npm run test:all` has besides, `all` both. A file `*.long.test.ts` is not in `daily`.
 * docs/testing.md says which claims are in which suite.
 */
const suite = process.env.STOCKADE_TEST_SUITE ?? 'all'
const long = '**/*.long.test.{ts,tsx}'
/** The files of one suite among these of all suites. */
const filesOf = (include: string[], exclude: string[] = []) => ({
  include: suite === 'rest' ? include.map(glob => glob.replace(/(?<!\.long)\.test\./, '.long.test.')) : include,
  exclude: suite === 'daily' ? [...exclude, long] : exclude,
})

/** `STOCKADE_TEST_WHOLE=1` (`npm run check -- whole`) runs each test on each engine and each page in each look. */
const whole = process.env.STOCKADE_TEST_WHOLE === '1'
const serverTests = ['packages/server/{src,test}/**/*.test.ts']
const unitTests = '**/*.unit.test.ts'
/**
 * Tests of access, password hashing, encryption, processes and HTTP, and of decisions made from what is in memory, which no engine changes: on
 * PostgreSQL only in a whole run.
 */
const sameOnEither = [
  'packages/server/test/clients/*.test.ts',
  'packages/server/test/attacks/*.test.ts',
  'packages/server/test/{backups,guard,guides,openapi,page-headers,fuzz,readers}.{,long.}test.ts',
  'packages/server/src/http/{http,tls,large-body}.{,long.}test.ts',
  'packages/server/src/features/blocklists/list-threads.long.test.ts',
  'packages/server/test/conformance/*.test.ts',
  'packages/server/src/admin/admin.test.ts',
  'packages/server/src/features/{channels,license,lookup,mfa,monitoring,oauth,passkeys,preferences,reputation,rollouts,self-tests}/*.test.ts',
  'packages/server/src/features/alerts/{alerts,stuck-channels}.{,long.}test.ts',
]
/** What differs by engine, in `daily` on PostgreSQL too: stores with SQL of their own, hot writes, and how a process follows the storage. */
const differsByEngine = [
  'packages/server/src/db/*.test.ts',
  'packages/server/src/events/*.test.ts',
  'packages/server/src/features/{audit,bans,commands,desired,live,retention}/*.test.ts',
  'packages/server/test/processes.test.ts',
]
/** Run by two processes over PostgreSQL (project `pair`), so not by one as well but in a whole run. */
const ofTwo = ['packages/server/src/features/{agent-moves,fleet,keys,servers,settings,whitelist}/*.test.ts']
const ofTwoDaily = ['packages/server/src/features/{fleet,keys,servers}/*.test.ts']
/** The rest of these is what `daily` left out, of its own files too. */
const onPostgres = (all: string[], daily: string[], exclude: string[]) =>
  suite === 'daily'
    ? { include: daily, exclude: [...exclude, unitTests, long] }
    : // A long file that `daily` would name is in no other suite.
      { include: all, exclude: [...exclude, unitTests, ...(suite === 'rest' ? daily.map(onlyShort) : [])] }
/** Without its long files: `!(*.long)` is any name that does not end so. */
const onlyShort = (glob: string) => glob.replace('/*.test.ts', '/!(*.long).test.ts')

export default defineConfig({
  test: {
    reporters: ['default', './scripts/closing-lines.mjs'],
    sequence: { sequencer: Lanes },
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          ...together,
          // Dates and numbers follow the region of whoever runs this; the tests know one.
          env: { LC_ALL: 'en_GB.UTF-8' },
          ...filesOf([
            'packages/{contract,client,agent,cli,dashboard}/**/*.test.{ts,tsx}',
            'packages/server/src/**/*.unit.test.ts',
            'tests/house/**/*.test.ts',
            'bench/**/*.test.ts',
          ]),
        },
      },
      {
        test: {
          ...shared,
          name: 'sqlite',
          ...together,
          env: { STOCKADE_TEST_ENGINE: 'sqlite' },
          ...filesOf(serverTests, [unitTests]),
          globalSetup: ['packages/server/src/testing/sqlite-setup.ts'],
        },
      },
      {
        test: {
          ...shared,
          name: 'postgres',
          ...together,
          env: { STOCKADE_TEST_ENGINE: 'postgres' },
          ...onPostgres(serverTests, differsByEngine, whole ? [] : [...sameOnEither, ...ofTwo]),
          globalSetup: ['packages/server/src/testing/global-setup.ts'],
        },
      },
      {
        // What is asked of two processes behind HAProxy, each request of the other one; the whole suite: `npm run check -- pair`.
        test: {
          ...shared,
          name: 'pair',
          ...together,
          env: { STOCKADE_TEST_ENGINE: 'postgres', STOCKADE_TEST_PAIR: '1' },
          ...onPostgres(whole ? serverTests : ofTwo, ofTwoDaily, []),
          globalSetup: ['packages/server/src/testing/global-setup.ts'],
        },
      },
      {
        test: {
          ...shared,
          name: 'engine',
          ...together,
          ...filesOf(['tests/{attacks,engine,e2e,fleet,siem}/**/*.test.ts']),
          globalSetup: ['packages/server/src/testing/sqlite-setup.ts'],
        },
      },
      {
        // The packages on real systemd take minutes and root: `npm run check -- ship`.
        test: {
          ...shared,
          name: 'ship',
          ...together,
          globalSetup: ['tests/ship/setup.ts'],
          ...filesOf(
            process.env.STOCKADE_TEST_SHIP === '1' ? ['tests/ship/*.test.ts'] : ['tests/ship/tree.long.test.ts'],
          ),
        },
      },
      {
        test: {
          ...shared,
          name: 'browser',
          ...ofPages,
          ...filesOf(['tests/browser/**/*.test.ts']),
          globalSetup: ['packages/server/src/testing/sqlite-setup.ts'],
        },
      },
    ],
  },
})
