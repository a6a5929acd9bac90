import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { exampleFor } from '../../packages/dashboard/src/features/templates/examples.ts'
import { builtins } from '../../packages/server/src/features/templates/builtin/catalogue.ts'
import { blameOf } from '../../packages/server/src/features/templates/sample/blame.ts'
import { Untriable } from '../../packages/server/src/features/templates/sample/javascript.ts'
import { judgeLines } from '../../packages/server/src/features/templates/sample/lines.ts'
import { planOf } from '../../packages/server/src/features/templates/sample/plan.ts'
import { validate } from '../../packages/server/src/features/templates/validator/validate.ts'
import { makeSample, sampleJail } from '../fuzz/log-lines.ts'
import type { SampleCase } from '../fuzz/log-lines.ts'
import { engineLines, ownLines } from '../fuzz/samples.ts'
import { engineThere, knownFilters, python, randomness } from '../fuzz/templates.ts'
import { loudly } from './host.ts'

/*
 * What we say of lines of a log, against fail2ban-regex and against a jail of fail2ban's own classes, which see the same
 * lines in the same order. Where we say nothing, that is allowed; where we say something, it must be the same.
 */

if (!engineThere) loudly('SKIPPED: samples against the engine: needs fail2ban')
const judgeScript = fileURLToPath(new URL('../fuzz/judge.py', import.meta.url))

/** Addresses found in a line, null for an id that is none; an error of the engine is a line that it drops. */
type Found = readonly (string | null)[] | 'error'
type Answer = readonly [tool: readonly Found[] | string, jail: readonly Found[] | string]
const askEngine = (cases: readonly SampleCase[]): readonly Answer[] =>
  JSON.parse(
    execFileSync(python(), ['-I', '-W', 'ignore', judgeScript], {
      input: JSON.stringify(cases.map(({ jail, filter, lines }) => [jail, filter, lines])),
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'ignore'],
      maxBuffer: 1 << 28,
    }),
  ) as readonly Answer[]

/** What we find, in the same form; undefined where we do not judge. The text says why nothing can be tried. */
const judge = ({ jail, filter, lines }: SampleCase): readonly (Found | undefined)[] | string => {
  const texts = { jail_config: jail, filter_config: filter }
  const { problems } = validate(texts, { knownFilters })
  if (problems.some(({ severity }) => severity === 'error')) return 'refused'
  try {
    const plan = planOf(texts, Date.now())
    return [...judgeLines(plan, lines)].map(verdict => {
      if (typeof verdict === 'string') return undefined
      const blame = verdict === null ? 'no failure' : blameOf(verdict, plan.usedns)
      if (blame === 'unknown') return undefined
      return blame === 'no failure' ? [] : [blame.name === null ? blame.ip : 'named']
    })
  } catch (error) {
    if (error instanceof Untriable) return error.message
    throw error
  }
}

interface Tally {
  readonly judged: number
  readonly matched: number
  readonly differ: readonly unknown[]
  readonly untried: readonly string[]
}
const compare = (cases: readonly SampleCase[]): Tally => {
  const answers = askEngine(cases)
  const differ: unknown[] = []
  const untried: string[] = []
  let judged = 0
  let matched = 0
  cases.forEach((sample, number) => {
    const ours = judge(sample)
    const [tool, jail] = answers[number] ?? ['', '']
    if (typeof ours === 'string') return void untried.push(ours)
    // The tool knows the filter alone.
    const asked = /^(?:usedns|failregex|ignoreregex)/m.test(sample.jail) ? { jail } : { jail, tool }
    ours.forEach((found, index) => {
      if (found === undefined) return
      judged++
      if (found.length > 0) matched++
      for (const [who, all] of Object.entries(asked)) {
        const theirs = typeof all === 'string' ? all : (all[index] ?? 'missing')
        if (JSON.stringify(theirs === 'error' ? [] : theirs) !== JSON.stringify(found))
          differ.push({ who, theirs, found, line: sample.lines[index], filter: sample.filter, jail: sample.jail })
      }
    })
  })
  return { judged, matched, differ, untried }
}

const everyLine = [...Object.values(ownLines).flatMap(lines => lines.map(([, line]) => line))].concat(
  engineLines.map(([, , line]) => line),
)
const regex = (...lines: string[]) => `[Definition]\nfailregex = ${lines.join('\n  ')}\n`

describe.skipIf(!engineThere)('lines of a log, against the engine', () => {
  it('every built-in template finds the same as the engine in every line, or says that it is not tried', () => {
    const own = builtins.filter(({ filter_config }) => filter_config !== '')
    const { judged, matched, differ, untried } = compare(
      own.map(({ name, filter_config }) => ({
        jail: sampleJail(),
        filter: filter_config,
        lines: [...everyLine, ...(exampleFor(name)?.split('\n') ?? [])],
      })),
    )
    expect(differ).toEqual([])
    expect(untried).toEqual([])
    expect(judged).toBe(own.length * (everyLine.length + 3))
    expect(matched).toBeGreaterThanOrEqual(
      Object.values(ownLines).flatMap(lines => lines.filter(([address]) => address !== null)).length,
    )
    // The examples of the dashboard: two lines that match, and one that does not.
    for (const { name, filter_config } of own) {
      const lines = exampleFor(name)?.split('\n') ?? []
      const found = judge({ jail: sampleJail(), filter: filter_config, lines })
      expect(found, name).toEqual([[expect.stringContaining('.')], [expect.stringContaining(':')], []])
    }
    for (const { jail_config, filter_config } of builtins.filter(each => each.filter_config === ''))
      expect(judge({ jail: jail_config, filter: filter_config, lines: everyLine })).toMatch(/lies on the servers/)
  })

  const shop = 'Nov 20 12:02:07 host1 shop[12]: '
  const hostile = [
    `${shop}login of bob failed from 203.0.113.7`,
    `${shop}login of bob failed from 203.0.113.7 port 22`,
    `${shop}login of bob failed from 2001:db8::7`,
    `${shop}login of x failed from 192.0.2.1 failed from 203.0.113.7`,
    `${shop}login of \u{1f600} failed from ::ffff:203.0.113.9`,
    `${shop}login of \u202ebob failed from mail.example`,
    `${shop}login of bob failed from 999.999.999.999`,
    `2026-11-20T12:02:07.5Z host1 shop: login of bob failed from [2001:db8::8]`,
    `[20/Nov/2026:12:02:07 +0100] shop: login of bob failed from 203.0.113.10`,
    `1795176367.123 shop: LOGIN OF BOB FAILED FROM 203.0.113.11`,
    `host1 shop[12]: login of bob failed from 203.0.113.12`,
    `shop[12]: [2026-11-20 12:02:07] login of bob failed from 203.0.113.13`,
    `2026-02-30 12:02:07 shop: login of bob failed from 203.0.113.14`,
    `\u001b[31m${shop}login of bob failed from 203.0.113.15`,
    `${shop}login of ${'bob '.repeat(200)}failed from 203.0.113.16`,
    '203.0.113.17',
    '   ',
    '',
  ]
  const filters: Readonly<Record<string, string>> = {
    plain: regex('^\\s*(?:\\S+ )?shop(?:\\[\\d+\\])?: login of \\S+ failed from <ADDR>$'),
    'without a beginning': regex('failed from <HOST>'),
    'several, with one that is ignored':
      `${regex('^.*from <ADDR>$', '^.*\\[<IP6>\\]', '(?i)from <IP4>', 'port')}`.replace(
        '  port',
        '  ^<F-USER>\\w+</F-USER> of <ADDR>\nignoreregex = port \\d+$\n  x failed',
      ),
    'variables and tags': `${regex('^%(_who)s of <F-USER>.+?</F-USER> <_what> <ADDR>')}_who = .*login\n_what = failed %(_from)s\n_from = from\n`,
    'a prefix': `${regex('^login of \\S+ failed from <ADDR>$', '^login of .* <IP4>')}prefregex = ^.*shop(?:\\[\\d+\\])?: <F-CONTENT>.+</F-CONTENT>$\n`,
    "the engine's prefix": `[INCLUDES]\nbefore = common.conf\n${regex('^%(__prefix_line)slogin of \\S+ failed from <ADDR>')}_daemon = shop\n`,
    'its prefix for any program': `[INCLUDES]\nbefore = common.conf\n${regex('^%(__prefix_line)s.*failed from <HOST>$')}`,
    'flags in places': regex('^.*(?i:Login) of (?:(?i)BOB) failed from <ADDR>', '(?is)^.*FAILED.FROM <ADDR>'),
    'names and references': regex('^.*(?P<quote>l)ogin of \\S+ fai(?P=quote)ed from <HOST>', '^(\\s)\\1\\1$|^<HOST>$'),
    'looking around': regex('(?<=failed )from (?!192)<ADDR>(?=$| port)', '^(?!.*bob).*from <ADDR>'),
    ranges: regex('^.*from <SUBNET>$', '^<IP4>(?:/<CIDR>)?$'),
    'dates of its own': `${regex('^ ?.*shop(?:\\[\\d+\\])?: .*from <ADDR>$')}datepattern = {^LN-BEG}%%b %%d %%H:%%M:%%S\n  ^\\[%%d/%%b/%%Y:%%H:%%M:%%S %%z\\]\n  EPOCH\n`,
    'no dates': `${regex('^\\w+ +\\d+ [\\d:]+ .*from <ADDR>$')}datepattern = {NONE}\n`,
    'ends of lines': regex('failed from <IP4>\\Z', '^$|^\\s+<IP4>$', '^<ADDR>\\n'),
    'words of all scripts': regex('^.*of \\W+ failed from <ADDR>$', '^.*\\bbob\\b.*\\B3 <ADDR>'),
  }
  it('filters of one’s own find the same in hostile lines', () => {
    const cases = Object.values(filters).flatMap(filter => [
      { jail: sampleJail(), filter, lines: hostile },
      { jail: sampleJail(), filter, lines: [...hostile].reverse() },
      ...(filter.includes('<HOST>') ? [{ jail: sampleJail('usedns = no\n'), filter, lines: hostile }] : []),
    ])
    const { judged, matched, differ, untried } = compare([
      ...cases,
      { jail: sampleJail('failregex = ^.*shop.*<IP4>$\n'), filter: filters['plain'] ?? '', lines: hostile },
      { jail: sampleJail('ignoreregex = 7$\n'), filter: filters['a prefix'] ?? '', lines: hostile },
    ])
    expect(differ).toEqual([])
    expect(untried).toEqual([])
    expect(judged).toBeGreaterThan(cases.length * (hostile.length - 3))
    expect(matched).toBeGreaterThan(200)
  })

  it('made-up filters find the same in made-up lines', () => {
    const random = randomness(Number(process.env.FUZZ_SEED ?? 20_261_121))
    const cases = Array.from({ length: Number(process.env.FUZZ_CASES ?? 60) }, () => makeSample(random))
    const { judged, matched, differ, untried } = compare(cases)
    expect(differ).toEqual([])
    expect(judged).toBeGreaterThan(cases.length * 20)
    expect(matched).toBeGreaterThan(cases.length * 5)
    expect(untried.length).toBeLessThan(cases.length / 10)
  })
})
