import { defineConfig } from 'vitest/config'
import LongestFirst from './scripts/sequence.mjs'

/*
 * The server's suite runs twice, once on each storage engine. Tests that need a host's kernel (network namespaces,
 * nftables, fail2ban) or a browser are projects of their own.
 */
const common = {
  pool: 'forks',
  testTimeout: 600_000,
  hookTimeout: 600_000,
  // Patient where the machine is busy; what is broken stays broken. While a test is written, a small STOCKADE_TEST_PATIENCE
  // (milliseconds, for pages of a browser too) shows sooner what does not come.
  expect: { poll: { timeout: Number(process.env.STOCKADE_TEST_PATIENCE ?? 180_000), interval: 100 } },
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
 * project waits for the last file of another one. They begin with the tests with hosts, which leave the checks of types, lint and format two fifths
 * of the CPU; those of pages come last, since they leave nothing.
 */
const workers = (groupOrder: number, maxWorkers: number) => ({ sequence: { groupOrder }, maxWorkers })
const together = workers(0, 5)
const ofPages = workers(1, 3)

/** `STOCKADE_TEST_WHOLE=1` (`npm run test:whole`) leaves nothing out and takes about half as long again. */
const whole = process.env.STOCKADE_TEST_WHOLE === '1'
/**
 * Long tests of access, password hashing, encryption, processes and HTTP, and of decisions made from what is in memory, which no engine changes: on
 * PostgreSQL only in a whole run.
 */
const sameOnEither = [
  'packages/server/test/clients/*.test.ts',
  'packages/server/test/attacks/{common,h5,h7,lows,m10,m11,m12,silent,step-up}-*.test.ts',
  'packages/server/test/{backups,guard}.test.ts',
  'packages/server/src/http/{http,tls}.test.ts',
  'packages/server/test/fuzz.test.ts',
  'packages/server/test/conformance/*.test.ts',
  'packages/server/src/admin/admin.test.ts',
  'packages/server/src/features/{license,mfa,notifications,oauth,passkeys,reputation,rollouts,self-tests}/*.test.ts',
  'packages/server/src/features/alerts/{alerts,stuck-channels}.test.ts',
]

/** Run by two processes over PostgreSQL (project `pair`), so not by one as well but in a whole run. */
const ofTwo = ['packages/server/src/features/{agent-moves,feeds,fleet,keys,servers,settings,whitelist}/*.test.ts']

export default defineConfig({
  test: {
    reporters: ['default', './scripts/closing-lines.mjs'],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          ...together,
          // Dates and numbers follow the region of whoever runs this; the tests know one.
          env: { LC_ALL: 'en_GB.UTF-8' },
          include: [
            'packages/{contract,client,agent,cli,dashboard}/**/*.test.{ts,tsx}',
            'packages/server/src/**/*.unit.test.ts',
            'tests/house/**/*.test.ts',
            'bench/**/*.test.ts',
          ],
        },
      },
      {
        test: {
          ...shared,
          name: 'sqlite',
          ...together,
          env: { STOCKADE_TEST_ENGINE: 'sqlite' },
          include: ['packages/server/{src,test}/**/*.test.ts'],
          exclude: ['**/*.unit.test.ts'],
          globalSetup: ['packages/server/src/testing/sqlite-setup.ts'],
        },
      },
      {
        test: {
          ...shared,
          name: 'postgres',
          ...together,
          env: { STOCKADE_TEST_ENGINE: 'postgres' },
          include: ['packages/server/{src,test}/**/*.test.ts'],
          exclude: ['**/*.unit.test.ts', ...(whole ? [] : [...sameOnEither, ...ofTwo])],
          globalSetup: ['packages/server/src/testing/global-setup.ts'],
        },
      },
      {
        // What is asked of two processes behind HAProxy, each request of the other one; the whole suite: `npm run test:pair`.
        test: {
          ...shared,
          name: 'pair',
          ...together,
          env: { STOCKADE_TEST_ENGINE: 'postgres', STOCKADE_TEST_PAIR: '1' },
          include: whole ? ['packages/server/{src,test}/**/*.test.ts'] : ofTwo,
          exclude: ['**/*.unit.test.ts'],
          globalSetup: ['packages/server/src/testing/global-setup.ts'],
        },
      },
      {
        test: {
          ...shared,
          name: 'engine',
          ...together,
          include: ['tests/{attacks,engine,e2e,fleet,siem}/**/*.test.ts'],
          globalSetup: ['packages/server/src/testing/sqlite-setup.ts'],
        },
      },
      {
        // The packages on real systemd take minutes and root: `npm run test:ship`.
        test: {
          ...shared,
          name: 'ship',
          ...together,
          globalSetup: ['tests/ship/setup.ts'],
          include: process.env.STOCKADE_TEST_SHIP === '1' ? ['tests/ship/*.test.ts'] : ['tests/ship/tree.test.ts'],
        },
      },
      {
        test: {
          ...shared,
          name: 'browser',
          ...ofPages,
          include: ['tests/browser/**/*.test.ts'],
          globalSetup: ['packages/server/src/testing/sqlite-setup.ts'],
        },
      },
    ],
  },
})
