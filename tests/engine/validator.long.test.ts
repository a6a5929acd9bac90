import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { builtins } from '../../packages/server/src/features/templates/builtin/catalogue.ts'
import { datepatternFault } from '../../packages/server/src/features/templates/validator/datepattern.ts'
import { readIni } from '../../packages/server/src/features/templates/validator/ini.ts'
import { readRegex } from '../../packages/server/src/features/templates/validator/regex.ts'
import { engineFilters } from '../../packages/server/src/features/templates/validator/engine-filters.ts'
import { validate } from '../../packages/server/src/features/templates/validator/validate.ts'
import { engineLines, ownLines } from '../fuzz/samples.ts'
import {
  createFuzzer,
  engineThere,
  fuzz,
  knownFilters,
  makeExpression,
  python,
  randomness,
  rawFiles,
} from '../fuzz/templates.ts'
import type { Case } from '../fuzz/templates.ts'
import { loudly } from './host.ts'

/* Templates and their validator against fail2ban itself: its files, its reader, its dump and its fail2ban-regex. */

if (!engineThere) loudly('SKIPPED: templates against the engine: needs fail2ban')
const engine = '/etc/fail2ban'
const script = (name: string) => fileURLToPath(new URL(`../fuzz/${name}`, import.meta.url))
const ask = <T>(name: string, args: readonly string[], input?: unknown): T =>
  JSON.parse(
    execFileSync(python(), ['-I', '-W', 'ignore', script(name), ...args], {
      input: input === undefined ? '' : JSON.stringify(input),
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'ignore'],
      maxBuffer: 1 << 28,
    }),
  ) as T

describe.skipIf(!engineThere)('templates against the engine', () => {
  const folders: string[] = []
  afterAll(() => folders.forEach(folder => rmSync(folder, { recursive: true, force: true })))

  describe('what the engine ships', () => {
    const files = engineThere ? readdirSync(join(engine, 'filter.d')).filter(file => file.endsWith('.conf')) : []
    it('is known by name', () => {
      expect(files.map(file => file.replace('.conf', '')).filter(name => !engineFilters.has(name))).toEqual([])
    })
    it('is read as the engine reads it: no filter and no jail is malformed', () => {
      const malformed = [
        ...files.map(file => `filter.d/${file}`),
        'jail.conf',
        'paths-common.conf',
        'paths-debian.conf',
      ]
        .map(file => ({ file, faults: readIni(readFileSync(join(engine, file), 'utf8')).faults }))
        .filter(({ faults }) => faults.length > 0)
      expect(malformed).toEqual([])
    })
    it('has no expression and no date pattern that is refused', () => {
      const filters = ask<Record<string, Record<string, string[]>>>('stock.py', [engine])
      const refused: string[] = []
      let looked = 0
      for (const [name, found] of Object.entries(filters))
        for (const [what, values] of Object.entries(found)) {
          for (const value of values) {
            if (what === 'datepattern') {
              const wrong = value.split('\n').map(datepatternFault).find(Boolean)
              if (wrong) refused.push(`${name}: ${value}: ${wrong}`)
            } else if (['addfailregex', 'addignoreregex', 'prefregex'].includes(what)) {
              try {
                readRegex(value)
              } catch (error) {
                refused.push(`${name}: ${value}: ${String(error)}`)
              }
            } else continue
            looked++
          }
        }
      expect(refused).toEqual([])
      expect(Object.keys(filters).length).toBeGreaterThan(80)
      expect(looked).toBeGreaterThan(250)
    })
    it('is refused as a template only for what templates may not do', () => {
      const policy =
        /is not one that|is refused:|could reach a firewall|has \[INCLUDES\], \[Definition\]|is no filter file|may have "before" only|with options passes only|Of the options of a filter|must not hold|would be filled in|is no name for a template|needs a section|has no failregex|section too many|Neither text|names a variable|comes with \[INCLUDES\]|could be filled in|is made of this variable|^backend: |more than one line|^logpath: |^port: |^protocol: /
      const wrongly: string[] = []
      for (const file of files) {
        const text = readFileSync(join(engine, 'filter.d', file), 'utf8')
        const { problems } = validate({ jail_config: '[x]\nbackend = auto\n', filter_config: text }, { knownFilters })
        for (const { severity, message } of problems)
          if (severity === 'error' && !policy.test(message)) wrongly.push(`${file}: ${message}`)
      }
      const jails = readFileSync(join(engine, 'jail.conf'), 'utf8').split(/^(?=\[)/m)
      for (const jail of jails.filter(text => text.startsWith('[') && !/^\[(?:DEFAULT|INCLUDES)\]/.test(text))) {
        const { problems } = validate({ jail_config: jail, filter_config: '' }, { knownFilters })
        for (const { severity, message } of problems)
          if (severity === 'error' && !policy.test(message)) wrongly.push(`${jail.split('\n')[0] ?? ''}: ${message}`)
      }
      expect(wrongly).toEqual([])
    })
  })

  it('whatever expression is let pass, Python compiles', () => {
    const random = randomness(20_261_120)
    const texts = Array.from({ length: 6000 }, () => makeExpression(random).replaceAll('%%', '%'))
    const passed = texts.filter(text => {
      try {
        readRegex(text)
        return !text.includes('\ue000')
      } catch {
        return false
      }
    })
    const verdicts = ask<(string | null)[]>('stock.py', ['--regex'], passed)
    expect(passed.filter((_, index) => verdicts[index] !== null)).toEqual([])
    expect(passed.length).toBeGreaterThan(1000)
  })

  it('our own filters find who they must, and nobody else', () => {
    const folder = mkdtempSync(join(tmpdir(), 'stockade-lines-'))
    folders.push(folder)
    const own = builtins.filter(builtin => builtin.filter_config !== '')
    expect(own.map(builtin => builtin.name).sort()).toEqual(Object.keys(ownLines).sort())
    for (const builtin of own) writeFileSync(join(folder, `${builtin.name}.conf`), builtin.filter_config)
    const questions = own.flatMap(({ name }) =>
      (ownLines[name] ?? []).map(([address, line]) => ({ name, address, line })),
    )
    const found = ask<string[][]>(
      'lines.py',
      [],
      questions.map(({ name, line }) => [line, join(folder, `${name}.conf`)]),
    )
    expect(questions.map(({ line }, index) => ({ line, found: found[index] }))).toEqual(
      questions.map(({ line, address }) => ({ line, found: address === null ? [] : [address] })),
    )
  })

  it("the engine's filters that templates name find their lines", () => {
    const filterOf = (name: string) =>
      /^filter = (.*)$/m.exec(builtins.find(builtin => builtin.name === name)?.jail_config ?? '')?.[1] ?? ''
    const found = ask<string[][]>(
      'lines.py',
      [],
      engineLines.map(([name, , line]) => [line, filterOf(name)]),
    )
    expect(engineLines.map(([name], index) => [name, found[index]])).toEqual(
      engineLines.map(([name, address]) => [name, [address]]),
    )
    const named = builtins.filter(builtin => builtin.filter_config === '').map(builtin => builtin.name)
    // The aggressive mode is the same filter with an option.
    expect(named.filter(name => name !== 'sshd-aggressive' && !engineLines.some(([each]) => each === name))).toEqual([])
  })

  it('the whole catalogue loads beside other jails and changes none of them', async () => {
    const fuzzer = await createFuzzer()
    try {
      // Under names of no stock jail: what those bring along is not the template's.
      const templates: Case[] = builtins.map(({ id, name, jail_config, filter_config }) => ({
        name: `copy-${id}`,
        jail_config: jail_config.replace(`[${name}]`, `[copy-${id}]`),
        filter_config,
        settings: {},
      }))
      expect(await fuzzer.judge(templates)).toEqual([])
    } finally {
      fuzzer.close()
    }
  })

  it('made-up templates that pass cause nothing that they must not, and work', async () => {
    const { accepted, findings } = await fuzz(4000, 20_261_121, 'server')
    expect(findings).toEqual([])
    expect(accepted).toBeGreaterThan(300)
  })

  it('nor do those that the agent alone lets pass, should the server be stolen', async () => {
    const { accepted, findings } = await fuzz(1500, 20_261_122, 'agent')
    expect(findings).toEqual([])
    expect(accepted).toBeGreaterThan(100)
  })

  it('the oracle sees what it looks for', async () => {
    const fuzzer = await createFuzzer()
    const bad = (name: string, jail: string, filter = ''): Case => ({
      name,
      jail_config: `[${name}]\nenabled = true\nfilter = ${filter ? `stockade-${name}` : 'sshd'}\nlogpath = /dev/null\n${jail}`,
      filter_config: filter,
      settings: {},
    })
    try {
      for (const template of [
        bad('a', 'ignorecommand = /bin/true'),
        bad('b', 'ignoreip = 192.0.2.1'),
        bad('c', 'action = plain[name=x, port="ssh; id"]'),
        bad('d', 'bantime.formula = 1'),
        bad('e', '', '[Definition]\nfailregex = ^(<HOST>\n'),
        bad('f', '', '[Definition]\nfailregex = ^nobody$\n'),
        bad('g', 'bantime = x'),
        bad('h', 'port = ssh; id'),
        bad('i', 'backend = systemd[x=1]'),
        bad('sshd', 'maxretry = 1'),
      ])
        expect(await fuzzer.judge([template], rawFiles), template.name).not.toEqual([])
    } finally {
      fuzzer.close()
    }
  })
})
