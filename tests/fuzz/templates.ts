import { execFile, execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { templateFiles } from '../../packages/agent/src/templates/files.ts'
import { readTemplate } from '../../packages/agent/src/templates/model.ts'
import { builtins } from '../../packages/server/src/features/templates/builtin/catalogue.ts'
import { validate } from '../../packages/server/src/features/templates/validator/validate.ts'
import { logpath } from '../../packages/server/src/features/templates/validator/values.ts'

/*
 * Makes up templates, settings and names, good and evil, and asks fail2ban itself what it makes of those that the
 * validator lets pass: every command of its own configuration dump has to be one that a template may cause, for the jail
 * of that template, and whatever other jails do must stay as it was.
 *
 * FUZZ_CASES and FUZZ_SEED say how many and which, FUZZ_GATE=agent leaves the server's validator out; a finding prints what is needed to see it again.
 */

export const client = '/usr/bin/fail2ban-client'
export const engineThere = existsSync(client) && existsSync('/etc/fail2ban/jail.conf')
/** The interpreter that can import fail2ban's classes. */
export const python = (): string => /^#!\s*(\S+)/.exec(readFileSync(client, 'utf8'))?.[1] ?? 'python3'

export interface Case {
  readonly name: string
  readonly jail_config: string
  readonly filter_config: string
  readonly settings: Readonly<Record<string, number | string>>
}
export interface Finding {
  /** A breach is what no template may cause; broken is what fails on the host, which the agent finds out there. */
  readonly kind: 'breach' | 'broken'
  readonly what: string
  readonly template: Case | null
}
type Command = readonly unknown[]
interface Answer {
  readonly code: number
  readonly errors: string
  readonly commands: readonly Command[]
  readonly refused: readonly (readonly [string, string, string, string])[]
}

/** Numbers that look random and come again with the same seed (mulberry32). */
export const randomness = (seed: number) => {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  const below = (most: number) => Math.floor(next() * most)
  return {
    below,
    chance: (share: number) => next() < share,
    pick: <T>(values: readonly T[]): T => values[below(values.length)] as T,
  }
}
type Random = ReturnType<typeof randomness>

export const knownFilters: ReadonlySet<string> = new Set(
  builtins.map(builtin => /^filter = (.*)$/m.exec(builtin.jail_config)?.[1] ?? ''),
)

const evil = [
  '\n[DEFAULT]\nbantime = 1',
  '\n[sshd]\nenabled = true',
  '\naction = evil',
  '\nbanaction = evil',
  '\nignorecommand = /bin/sh',
  '\rignorecommand = /bin/sh',
  '\u2028ignorecommand = x',
  '\u0085ignorecommand = x',
  '\u000bignorecommand = x',
  '\u001cignorecommand = x',
  '\n ignoreip = 0.0.0.0/0',
  '%(action_)s',
  '%(known/failregex)s',
  '%(DEFAULT/ignoreip)s',
  '%(sshd/filter)s',
  '%(__name__)s',
  '%(fail2ban_confpath)s',
  '%(sshd_log)s',
  '%%(action)s',
  '%',
  '<HOST>',
  '<ip>',
  '<name>',
  '<failregex>',
  '<_x>',
  '<known/failregex>',
  '<KNOWN/failregex>',
  '<default/bantime>',
  '<bantime>',
  '<logtype>',
  '<__prefix_line>',
  '<constructor>',
  '<F-CONSTRUCTOR>',
  ' ; comment',
  '; comment',
  '# comment',
  '$(id)',
  '`id`',
  '; rm -rf /',
  '|| true',
  '"',
  "'",
  '\\',
  '\t',
  '\u0000',
  '\ufeff',
  '\u200b',
  '__import__("os").system("id")',
  '1+1',
  '1 if 0 else 2',
  '../../etc/shadow',
  'sshd[mode=aggressive]',
  'sshd[x="]',
  'systemd[journalflags=1]',
  'polling[x=1]',
]
const goodValues: Readonly<Record<string, readonly string[]>> = {
  enabled: ['true', 'yes', '1', 'on'],
  port: ['ssh', 'http,https', '22', '0:65535', '1000:2000,http', 'a-b', 'http, https'],
  protocol: ['tcp', 'udp', 'tcp,udp', 'all', 'icmp'],
  maxretry: ['1', '5', '1000', '007', '0', '1001'],
  findtime: ['600', '10m', '1d', '1h 30m', '1d12h', '2 weeks', '0', '1y', '5 min', '-1'],
  bantime: ['-1', '3600', '1w', '10 minutes', '1mo', '364d', '0', '2h2h', '-5', '1e3'],
  'bantime.increment': ['true', 'false'],
  'bantime.maxtime': ['5w', '86400', '1mon'],
  'bantime.factor': ['1', '2.5', '24', '1.'],
  'bantime.rndtime': ['5m', '60'],
  backend: ['auto', 'polling', 'pyinotify', '%(sshd_backend)s', '%(default_backend)s'],
  journalmatch: ['_SYSTEMD_UNIT=ssh.service', '_COMM=a + _COMM=b', 'SYSLOG_FACILITY=10 _COMM=x', 'x=y'],
  usedns: ['warn', 'no', 'raw', 'yes'],
  maxlines: ['1', '10', '100'],
  mode: ['normal', 'aggressive', 'x'],
  logencoding: ['auto', 'utf-8', 'latin1', 'ascii'],
  logtimezone: ['UTC', 'UTC+0200', 'GMT-05:30', '+01'],
}
const forbidden = [
  ...['action', 'banaction', 'banaction_allports', 'ignorecommand', 'ignoreip', 'ignoreself', 'ignorecache', 'before'],
  ...[
    'bantime.formula',
    'bantime.multipliers',
    'bantime.overalljails',
    'chain',
    'mta',
    'destemail',
    'sender',
    '__name__',
  ],
  ...[
    'ACTION',
    'Action ',
    'known/action',
    'default/action',
    'datepattern',
    'prefregex',
    'maxmatches',
    '_x',
    'fail2ban_agent',
    'constructor',
    '__proto__',
  ],
]
const pieces = [
  ...[
    '^',
    '$',
    '\\s*',
    '\\S+',
    '<HOST>',
    '<ADDR>',
    '<IP4>',
    '<F-ID/>',
    '<F-USER>',
    '</F-USER>',
    '<F-MLFID>',
    '</F-MLFID>',
  ],
  ...[
    '(?:',
    '(',
    ')',
    ')',
    '|',
    '[',
    ']',
    '[^"]*',
    '[a-z-9]',
    '[]x]',
    '[^]]+',
    '+',
    '*',
    '?',
    '{2}',
    '{2,}',
    '{,3}',
    '{}',
  ],
  ...[
    '.*',
    '.*?',
    '\\d+',
    '\\b',
    '\\B',
    '\\A',
    '\\Z',
    '\\z',
    '\\1',
    '\\2',
    '\\p',
    '\\x41',
    '\\u00e9',
    '\\N',
    '\\0',
    '\\101',
  ],
  ...[
    '(?P<a>',
    '(?P<b>',
    '(?P=a)',
    '(?<c>',
    '(?=',
    '(?!',
    '(?<=a)',
    '(?<!ab)',
    '(?<=a+)',
    '(?i)',
    '(?i:',
    '(?x)',
    '(?#c)',
    '(?>',
  ],
  ...[
    '(?(1)a|b)',
    '(?(a)x)',
    'login',
    ' failed ',
    'from ',
    ':',
    '%%',
    '%',
    '%(_x)s',
    '%(__prefix_line)s',
    '<_x>',
    '<b>',
    'é',
    '++',
  ],
  ...[
    '<SKIPLINES>',
    '<F-CONTENT>.+</F-CONTENT>',
    '\\<HOST>',
    '<DNS>',
    '<SUBNET>',
    '<CIDR>',
    '(?P<ip4>',
    '<F-NOFAIL>x</F-NOFAIL>',
  ],
  ...['((?i)', '(?:(?i)', '(?-i:', '(?is)', '\\Q', '\\', '<mode>', '<HOST', 'HOST>', '[<HOST>]', '(?P<HOST>', '\ue000'],
]
const datePieces = [
  ...[
    '%%Y',
    '%%m',
    '%%d',
    '%%H',
    '%%M',
    '%%S',
    '%%b',
    '%%ExY',
    '%%Exm',
    '%%f',
    '%%z',
    '%%Q',
    '%Y',
    '-',
    ':',
    ' ',
    '^',
    '$',
  ],
  ...['{DATE}', '{^LN-BEG}', '{EPOCH}', '{NONE}', '{UNB}', '\\[', '(', ')', '\\d+', '**', '(?:', '[', '%%', '%%Y%%Y'],
]

export const makeExpression = (random: Random): string => {
  if (random.chance(0.35))
    return random.pick([
      '^\\s*(?:\\S+ )?app(?:\\[\\d+\\])?: login of \\S+ failed from <ADDR>$',
      '^<HOST> - \\S+ "(?:GET|POST) [^"]*" 40[13]\\b',
      '^%(__prefix_line)sfailed from <HOST>$',
      '^failed for <F-USER>\\S+</F-USER> from <HOST>$',
    ])
  let text = random.chance(0.6) ? '^' : ''
  for (let left = 1 + random.below(8); left > 0; left--) text += random.pick(pieces)
  return random.chance(0.6) && !text.includes('<HOST>') ? `${text} <HOST>` : text
}
const spoil = (random: Random, value: string): string => {
  if (!random.chance(0.03)) return value
  const at = random.below(value.length + 1)
  return value.slice(0, at) + random.pick(evil) + value.slice(at)
}
const pathOf = (random: Random): string =>
  random.pick(['/var/log/', '/srv/', '/opt/x/', '/home/a/', '/etc/', '/var/log/../', '/', '', '%(']) +
  random.pick([
    'app.log',
    '*.log',
    'a/b.log',
    '..',
    '[ab].log',
    'x y',
    '*/../x',
    'nginx_error_log)s',
    '',
    '?.log tail',
    'é',
  ])

const option = (random: Random, name: string, values: readonly string[]): string => {
  const [first = '', ...more] = values.map(value => spoil(random, value))
  const sign = random.pick([' = ', '=', ' : ', ': '])
  const title = random.chance(0.05) ? name.toUpperCase() : name
  return `${random.chance(0.02) ? ' ' : ''}${title}${sign}${[first, ...more].join('\n    ')}\n`
}

export const makeCase = (random: Random, index: number): Case => {
  const name = random.chance(0.03)
    ? random.pick([
        'stockade',
        'default',
        'DEFAULT',
        'A',
        'a b',
        '../x',
        'a\nb',
        'known',
        'includes',
        '-a',
        'a'.repeat(25),
      ])
    : `t${index}`
  const own = random.chance(0.5)
  let jail = `[${random.chance(0.03) ? random.pick(['DEFAULT', 'sshd', 'INCLUDES', 'Definition', `${name}x`]) : name}]\n`
  jail += option(random, 'enabled', ['true'])
  if (!own || random.chance(0.5))
    jail += option(random, 'filter', [
      own ? random.pick([name, `stockade-${name}`, 'sshd']) : random.pick(['sshd', 'nginx-http-auth', ...knownFilters]),
    ])
  jail += option(random, 'logpath', ['/dev/null', ...(random.chance(0.4) ? [pathOf(random)] : [])])
  for (const [key, values] of Object.entries(goodValues))
    if (key !== 'enabled' && random.chance(0.2)) jail += option(random, key, [random.pick(values)])
  if (random.chance(0.15)) jail += option(random, 'failregex', [makeExpression(random)])
  if (random.chance(0.05)) jail += option(random, 'ignoreregex', [makeExpression(random)])
  if (random.chance(0.05)) jail += option(random, random.pick(forbidden), [random.pick(evil)])
  if (random.chance(0.02)) jail += random.pick(evil)
  let filter = ''
  if (own) {
    if (random.chance(0.3))
      filter += `[INCLUDES]\nbefore = ${spoil(random, random.pick(['common.conf', 'common.conf', 'sshd.conf', '../jail.conf', '/etc/passwd']))}\n`
    filter += '[Definition]\n'
    filter += option(
      random,
      'failregex',
      Array.from({ length: 1 + random.below(2) }, () => makeExpression(random)),
    )
    if (random.chance(0.4)) filter += option(random, 'ignoreregex', [random.chance(0.5) ? '' : makeExpression(random)])
    if (random.chance(0.15))
      filter += option(random, 'prefregex', [`^\\s*<F-CONTENT>${random.pick(['.+', '.*'])}</F-CONTENT>$`])
    if (random.chance(0.3))
      filter += option(random, 'datepattern', [
        Array.from({ length: 1 + random.below(5) }, () => random.pick(datePieces)).join(''),
      ])
    if (random.chance(0.5))
      filter += option(random, '_x', [
        random.pick(['x', '[a-z]+', '%(_y)s', '<_y>', '<_x>', '%(_x)s', '(', makeExpression(random)]),
      ])
    if (random.chance(0.2)) filter += option(random, '_y', [random.pick(['y', '%(_x)s', '<_x>', '<HOST>', '%%'])])
    if (random.chance(0.1)) filter += `[Init]\nmaxlines = ${random.pick(['1', '10', '0', 'x'])}\n`
    if (random.chance(0.04))
      filter += option(
        random,
        random.pick([...forbidden, 'actionban', 'ignoreregex?x', 'known/failregex', 'logtype']),
        [random.pick(evil)],
      )
    if (random.chance(0.02)) filter += random.pick(evil)
  }
  const settings: Record<string, number | string> = {}
  if (random.chance(0.3)) settings.maxretry = 1 + random.below(1000)
  if (random.chance(0.3)) settings.bantime = random.pick([-1, 1, 31_557_600])
  if (random.chance(0.2)) settings.logpath = spoil(random, pathOf(random))
  return { name, jail_config: jail, filter_config: filter, settings }
}

/** A host whose policy names every place that the server lets pass. */
const isNamed = (path: string): boolean => /^\/(?:var\/lib|opt|srv|home)\//.test(path)

type Files = readonly (readonly [path: string, text: string])[]
/** As it stands: for templates that no agent would write, to see whether they are found out. */
export const rawFiles = (template: Case): Files => [
  [`jail.d/zz-stockade-30-template-${template.name}.local`, template.jail_config],
  ...(template.filter_config ? [[`filter.d/stockade-${template.name}.conf`, template.filter_config] as const] : []),
]
/** As the agent writes it, from what it read. A jail without a log would not be in the dump at all, so each has one. */
const agentFiles = (template: Case): Files => {
  const read = readTemplate({ ...template, required_files: [] }, isNamed)
  const source = {
    backend: read.backend === null || read.backend.startsWith('%') ? 'auto' : read.backend,
    logpaths: ['/dev/null', ...read.logpaths],
    journalmatch: read.journalmatch,
  }
  return templateFiles('', read, source).flatMap(({ path, text }) => (text === null ? [] : [[path, text] as const]))
}

/** Passes, and rests only on what the engine has: a filter that no host has is told as a warning. */
const serverAccepts = ({ settings, ...template }: Case): boolean => {
  const { problems, requiredFiles } = validate(template, { name: template.name, knownFilters })
  return (
    !problems.some(({ severity }) => severity === 'error') &&
    requiredFiles.every(file => existsSync(join('/etc/fail2ban', file))) &&
    (typeof settings.logpath !== 'string' || logpath(settings.logpath) === null)
  )
}

/** Says why the agent does not take it; null when it does. */
const agentRefuses = (template: Case): string | null => {
  try {
    readTemplate({ ...template, required_files: [] }, isNamed)
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** A copy of the engine's configuration, with two jails whose commands must never change. */
const makeFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'stockade-fuzz-'))
  cpSync('/etc/fail2ban', folder, { recursive: true, dereference: true })
  for (const file of readdirSync(join(folder, 'jail.d'))) rmSync(join(folder, 'jail.d', file))
  mkdirSync(join(folder, 'jail.d'), { recursive: true })
  writeFileSync(
    join(folder, 'jail.local'),
    '[DEFAULT]\nbanaction = plain\n[sshd]\nenabled = true\nlogpath = /dev/null\nbackend = polling\n' +
      '[watched]\nenabled = true\nfilter = recidive\nlogpath = /dev/null\nbackend = polling\nport = ssh\nmaxretry = 4\n',
  )
  // An action that shows what it is given, and puts it into no command of its own.
  writeFileSync(
    join(folder, 'action.d', 'plain.conf'),
    '[Definition]\nactionban = true\n[Init]\nport = ssh\nprotocol = tcp\n',
  )
  return folder
}
const askEngine = (folder: string): Promise<Answer> =>
  new Promise((resolve, reject) =>
    execFile(
      python(),
      ['-I', fileURLToPath(new URL('oracle.py', import.meta.url)), client, folder],
      { maxBuffer: 1 << 30 },
      (error, out) => (error ? reject(error) : resolve(JSON.parse(out) as Answer)),
    ),
  )

/** The jail that a command is for; null where it is for the daemon. */
const jailOf = (command: Command): string | null => {
  const [verb, first] = command
  if (verb === 'config-error') return /^Jail '([^']*)'/.exec(String(first))?.[1] ?? String(first)
  return verb === 'add' || verb === 'start' || command.length > 3 ? String(first) : null
}
/** What a template may cause to be set; the rest has to be what the host sets for any jail. */
const settable = new Set(
  'usedns prefregex maxlines addfailregex addignoreregex datepattern addjournalmatch addlogpath maxretry findtime bantime bantime.increment bantime.factor bantime.maxtime bantime.rndtime logtimezone logencoding'.split(
    ' ',
  ),
)
const backends = new Set(['auto', 'polling', 'pyinotify', 'systemd'])
const roots = /^(?:\/dev\/null$|\/var\/log\/|\/var\/lib\/|\/opt\/|\/srv\/|\/home\/)/
/** The parts of a firewall action that a jail may choose. */
const chosen = new Set(['port', 'protocol', 'name', 'bantime'])

/** What in the commands of one template's jail it must not cause; null when all is well. */
const offence = (
  command: Command,
  jail: string,
  usual: ReadonlyMap<string, string>,
): Omit<Finding, 'template'> | null => {
  const [verb, , what, ...rest] = command
  const told = JSON.stringify(command).slice(0, 400)
  const breach = (good: boolean) => (good ? null : ({ kind: 'breach', what: told } as const))
  if (verb === 'config-error') return { kind: 'broken', what: `the engine refuses it: ${told}` }
  if (verb === 'add') return breach(backends.has(String(what)))
  if (verb === 'start') return null
  if (what === 'addlogpath') return breach(roots.test(String(rest[0])) && !String(rest[0]).includes('/../'))
  if (settable.has(String(what)) || (what === 'maxmatches' && Number.isInteger(rest[0]))) return null
  if (what === 'action' && verb === 'multi-set')
    return breach(
      (rest[1] as readonly (readonly [string, string])[]).every(([key, value]) =>
        chosen.has(key) ? /^[\w:, -]+$/.test(value) : usual.get(`action.${key}`) === value,
      ),
    )
  return breach(usual.get(String(what)) === JSON.stringify(rest).replaceAll(JSON.stringify(jail), '"<jail>"'))
}

export const createFuzzer = async (): Promise<{
  /** Puts cases before the engine, all in one dump. */
  judge(templates: readonly Case[], filesOf?: (template: Case) => Files): Promise<Finding[]>
  close(): void
}> => {
  const folder = makeFolder()
  const before = await askEngine(folder)
  if (before.code !== 0) throw new Error(`The engine does not take its own configuration: ${before.errors}`)
  const others = (answer: Answer) =>
    JSON.stringify(answer.commands.filter(command => ['sshd', 'watched', null].includes(jailOf(command))))
  const still = others(before)
  const usual = new Map<string, string>()
  for (const [verb, jail, what, ...rest] of before.commands) {
    if (jail !== 'watched') continue
    usual.set(String(what), JSON.stringify(rest).replaceAll('"watched"', '"<jail>"'))
    if (verb === 'multi-set' && what === 'action')
      for (const [key, value] of rest[1] as readonly (readonly [string, string])[]) usual.set(`action.${key}`, value)
  }

  const judge = async (templates: readonly Case[], filesOf = agentFiles): Promise<Finding[]> => {
    if (templates.length === 0) return []
    const files = templates.flatMap(filesOf).map(([path, text]) => [join(folder, path), text] as const)
    for (const [path, text] of files) writeFileSync(path, text)
    const answer = await askEngine(folder)
    for (const [path] of files) rmSync(path)
    if (answer.code !== 0) {
      // One of them stops the whole: halve until it stands alone.
      if (templates.length === 1)
        return [
          { kind: 'broken', what: `the engine stops: ${answer.errors.slice(-600)}`, template: templates[0] ?? null },
        ]
      const half = templates.length >> 1
      return [...(await judge(templates.slice(0, half), filesOf)), ...(await judge(templates.slice(half), filesOf))]
    }
    const findings: Finding[] = []
    const byName = new Map(templates.map(template => [template.name, template]))
    if (others(answer) !== still) {
      if (templates.length > 1) {
        const half = templates.length >> 1
        return [...(await judge(templates.slice(0, half), filesOf)), ...(await judge(templates.slice(half), filesOf))]
      }
      findings.push({ kind: 'breach', what: 'it changes what other jails do', template: templates[0] ?? null })
    }
    const seen = new Set<string>()
    for (const command of answer.commands) {
      const jail = jailOf(command)
      if (jail === null || jail === 'sshd' || jail === 'watched') continue
      const template = byName.get(jail)
      if (!template) {
        findings.push({
          kind: 'breach',
          what: `a jail that is no template's: ${JSON.stringify(command).slice(0, 400)}`,
          template: null,
        })
        continue
      }
      if (command[0] === 'add') seen.add(jail)
      const wrong = offence(command, jail, usual)
      if (wrong) findings.push({ ...wrong, template })
    }
    for (const [jail, what, value, error] of answer.refused)
      findings.push({
        kind: 'broken',
        what: `the engine can not use ${what} ${value}: ${error}`,
        template: byName.get(jail) ?? null,
      })
    for (const template of templates)
      if (!seen.has(template.name)) findings.push({ kind: 'broken', what: 'the engine leaves it out', template })
    return findings
  }
  return { judge, close: () => rmSync(folder, { recursive: true, force: true }) }
}

const stopping = /<(?:known|default|failregex|_)|%\(_/i
/**
 * With `gate: 'server'`, what the server's validator lets pass has to pass the agent too, and to work. With 'agent', as if
 * the server were stolen, what the agent alone lets pass must at least breach nothing: whether it works, its checker
 * finds out on the host before anything is loaded.
 */
export const fuzz = async (
  cases: number,
  seed: number,
  gate: 'server' | 'agent',
  tell: (line: string) => void = () => {},
): Promise<{ made: number; accepted: number; slowest: number; findings: Finding[] }> => {
  const random = randomness(seed)
  const fuzzer = await createFuzzer()
  const findings: Finding[] = []
  let [made, accepted, slowest, batch] = [0, 0, 0, [] as Case[]]
  try {
    while (made < cases && findings.length <= 20) {
      const template = makeCase(random, made++)
      const begun = performance.now()
      const passes = gate === 'agent' || serverAccepts(template)
      slowest = Math.max(slowest, performance.now() - begun)
      // One that stops the engine's reader is found out by the agent's checker; here each would cost many dumps.
      const stops = gate === 'agent' && stopping.test(template.jail_config + template.filter_config)
      const refused = passes && !stops ? agentRefuses(template) : null
      if (gate === 'server' && refused !== null)
        findings.push({ kind: 'broken', what: `the agent refuses it: ${refused}`, template })
      if (passes && !stops && refused === null) {
        accepted++
        batch.push(template)
      }
      if (batch.length < 400 && made < cases) continue
      const found = await fuzzer.judge(batch)
      findings.push(...found.filter(({ kind }) => gate === 'server' || kind === 'breach'))
      batch = []
      tell(`${made} made, ${accepted} accepted, ${findings.length} findings`)
    }
  } finally {
    fuzzer.close()
  }
  return { made, accepted, slowest, findings }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (!engineThere) {
    process.stderr.write('fail2ban is not installed here; there is nothing to ask.\n')
    process.exit(1)
  }
  execFileSync(python(), ['-I', '-c', 'import fail2ban'])
  const print = (line: string) => process.stdout.write(`${line}\n`)
  const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 1_000_000)
  const started = Date.now()
  const gate = process.env.FUZZ_GATE === 'agent' ? 'agent' : 'server'
  const result = await fuzz(Number(process.env.FUZZ_CASES ?? 1_000_000), seed, gate, line =>
    print(`${Math.round((Date.now() - started) / 1000)} s: ${line}`),
  )
  for (const { kind, what, template } of result.findings)
    print(`\n${kind}: ${what}\n${JSON.stringify(template, null, 1)}`)
  print(
    `seed ${seed}: ${result.made} made, ${result.accepted} accepted, slowest check ${result.slowest.toFixed(1)} ms, ${result.findings.length} findings`,
  )
  process.exitCode = result.findings.length > 0 ? 1 : 0
}
