import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  title: 'Protection',
  levels: {
    protected: 'Protected',
    degraded: 'Degraded',
    unprotected: 'Unprotected',
    unknown: 'Protection unknown',
  },
  counted: {
    protected: (count: number) => plural(count, { one: '1 protected', other: `${count} protected` }),
    degraded: (count: number) => plural(count, { one: '1 degraded', other: `${count} degraded` }),
    unprotected: (count: number) => plural(count, { one: '1 unprotected', other: `${count} unprotected` }),
    unknown: (count: number) => plural(count, { one: '1 unknown', other: `${count} unknown` }),
  },
  since: 'since',
  means: {
    protected: 'What is banned on this host does not get through.',
    degraded: 'Some of what is banned or should be banned on this host gets through.',
    unprotected: 'fail2ban does not protect this host now.',
    unknown: 'Whether bans hold on this host is not known now.',
  },
  never: 'The agent has not reported it yet. It may be too old.',
  last: (level: string) => `Last reported: ${level}`,
  reasons: 'What was found',
  counts: (ok: number, notOk: number, unknown: number) =>
    `${plural(ok, { one: '1 check is fine', other: `${ok} checks are fine` })}, ${notOk} not, ${unknown} could not be done.`,
  checks: {
    engine: 'fail2ban',
    jail: 'Jail',
    log: 'Log file',
    journal: 'Journal',
    enforced: 'Firewall',
    shield: 'Shield',
    keep: 'Whitelist',
    published: 'Container ports',
    database: 'Database of fail2ban',
    clock: 'Clock',
    agent: 'Agent',
    config: 'Configuration',
  },
  states: { bad: 'Bad', warning: 'Warning', unknown: 'Unknown' },
  test: {
    title: 'Self-test',
    help: 'Bans an address on this host for a moment, and tries whether a packet of it gets through. Nothing leaves the host, and no statistics count it.',
    run: 'Test now',
    running: 'The test is running.',
    silent: 'The host has not answered.',
    steps: 'Steps',
    arrived: 'The host took the command',
    untried: 'Not tried',
    ok: 'OK',
    failed: 'Failed',
    milliseconds: (ms: number) => `${ms} ms`,
    results: { proved: 'Proved: bans stop packets', held: 'Held by the kernel, no packet tried', failed: 'Failed' },
    hops: {
      control: 'before the ban, packets are answered',
      ban: 'the kernel holds the ban',
      drop: 'packets are dropped',
      lift: 'after the ban, packets are answered',
    },
  },
}
export const protectionTexts: Catalogue<typeof en> = { name: 'protection', en }
