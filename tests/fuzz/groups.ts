import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { readTemplate } from '../../packages/agent/src/templates/model.ts'
import { templateFiles } from '../../packages/agent/src/templates/files.ts'
import { validate } from '../../packages/server/src/features/templates/validator/validate.ts'
import { knownFilters, python, randomness } from './templates.ts'

/*
 * Mutations of tags, groups, variables and their spellings, against both gates of templates. The oracle is fail2ban's own
 * expansion (groups.py): of what a gate lets pass, no text but an address may reach an action.
 */

type Random = ReturnType<typeof randomness>

const names = (
  'ID id Id IP ip IP4 ip4 IP6 ip6 DNS dns CIDR cidr ADDR SUBNET HOST host MLFID mlfid MLFFORGET ALT_ID alt_id ALT_IP4 alt_ip4_1 ' +
  'ALT_DNS TUPLE_ID tuple_id tuple_ip4_2 ALT_FID alt_fid FID fid F-ID USER user CONTENT content NOFAIL PORT matches failures ' +
  'users _x _q ip-host I D P4 ALT_ALT_ID ALT_ TUPLE_ alt_tuple_id'
).split(' ')
const bodies = ['.+', '\\S+', '.*', '<HOST>', '<IP4>.*', '(?:\\d{1,3}\\.){3}\\d{1,3}', '%(_x)s', '<_y>', '[^"]+', '']
const tags =
  '<HOST> <ADDR> <IP4> <IP6> <SUBNET> <CIDR> <DNS> <F-ID/> <F-IP4/> <F-DNS/> <F-CIDR/> <F-PORT/> <SKIPLINES>'.split(' ')
const around = [
  '^',
  '$',
  ' ',
  'x',
  '(?:',
  ')',
  '(',
  '[',
  ']',
  '\\',
  '|',
  '?',
  '*',
  '+',
  '(?i)',
  '(?#',
  '(?=',
  '(?!',
  '(?<=',
  '{2}',
  '(?x)',
]
const spoilers = [
  '%%',
  '%',
  '<',
  '>',
  '</',
  '/>',
  '(?P',
  '(?P<',
  'P<',
  'F-',
  'F',
  '-',
  '?P=',
  '\u00a0',
  '\u0130',
  '\uff26',
  '\u212a',
  ' ',
  '\t',
]

const group = (random: Random): string => {
  const name = random.pick(names)
  const body = random.pick(bodies)
  return random.pick([
    `<F-${name}>${body}</F-${name}>`,
    `<F-${name}>${body}`,
    `<f-${name}>${body}</f-${name}>`,
    `<F-${name}/>`,
    `(?P<${name}>${body})`,
    `(?<${name}>${body})`,
    `<F-%(_t)s>${body}</F-%(_t)s>`,
    `<%(_a)s%(_t)s>${body}</%(_a)s%(_t)s>`,
    `<F-<_t>>${body}</F-<_t>>`,
    `(?P<%(_t)s>${body})`,
    `(?P<<_t>>${body})`,
    `(?%(_p)s${body})`,
    `(%(_p)s${body})`,
    '%(_g)s',
    '<_g>',
    `<F-%%(_t)s>${body}</F-%%(_t)s>`,
  ])
}

const mutate = (random: Random, text: string): string => {
  const at = random.below(text.length + 1)
  const cut = random.below(3)
  return random.pick([
    text,
    text.slice(0, at) + random.pick(spoilers) + text.slice(at),
    text.slice(0, at) + text.slice(at + cut),
    text.replaceAll('F', random.pick(['f', 'F', '%(_f)s', '\\x46', '<_f>'])),
    text.slice(0, at) + random.pick(around) + text.slice(at),
  ])
}

const expression = (random: Random): string => {
  let text = random.chance(0.7) ? '^' : ''
  for (let left = 1 + random.below(4); left > 0; left--)
    text += random.pick([group(random), group(random), random.pick(tags), random.pick(around), ' a'])
  if (random.chance(0.5)) text += ' <HOST>'
  return random.chance(0.4) ? mutate(random, text) : text
}

export const makeFilter = (random: Random): string => {
  const name = random.pick(names)
  const variables = {
    _t: name,
    _a: random.pick(['F-', 'F', '']),
    _f: 'F',
    _p: random.pick([`P<${name}>`, `?P<${name}>`, 'P<', `?:`]),
    _g: random.chance(0.5) ? group(random).replaceAll('_g', '_t') : 'g',
    _x: random.pick(['.+', 'x', '<HOST>', '%(_t)s', '<F-ID>.+</F-ID>']),
    _y: random.pick(['\\S+', 'y', '<_t>', '(?P<fid>.+)']),
  }
  const used = Object.entries(variables).filter(() => random.chance(0.85))
  const init = random.chance(0.15) ? used.splice(0, 2) : []
  const line = ([option, value]: readonly [string, string]) => `${option} = ${value}\n`
  return [
    random.chance(0.15) ? '[INCLUDES]\nbefore = common.conf\n' : '',
    '[Definition]\n',
    random.chance(0.2) ? `prefregex = ${expression(random)}<F-CONTENT>.*</F-CONTENT>\n` : '',
    `failregex = ${Array.from({ length: 1 + random.below(2) }, () => expression(random)).join('\n    ')}\n`,
    used.map(line).join(''),
    init.length > 0 ? `[Init]\n${init.map(line).join('')}` : '',
  ].join('')
}

const jail = '[made]\nenabled = true\nbackend = auto\nlogpath = /dev/null\n'
/** The filter as the agent writes it; null where its reader refuses it. */
const byAgent = (filter_config: string): string | null => {
  try {
    const read = readTemplate({ name: 'made', jail_config: jail, filter_config, required_files: [], settings: {} })
    return templateFiles('', read, null)[0]?.text ?? null
  } catch {
    return null
  }
}
const byServer = (filter_config: string): boolean =>
  validate({ jail_config: jail, filter_config }, { name: 'made', knownFilters }).problems.every(
    ({ severity, refuses }) => severity !== 'error' && !refuses,
  )

export interface GroupsFuzzed {
  readonly made: number
  /** Passed the agent's reader, the whole of the agent, the server. */
  readonly read: number
  readonly agent: number
  readonly server: number
  /** Of all: those whose text would have reached an action, had fail2ban alone decided. */
  readonly dangerous: number
  readonly findings: readonly {
    readonly gate: 'agent' | 'server'
    readonly groups: readonly string[]
    readonly filter: string
  }[]
}

type Answer = readonly [faults: readonly string[], reaching: readonly string[]] | null

export const fuzzGroups = async (
  cases: number,
  seed: number,
  tell: (line: string) => void = () => undefined,
): Promise<GroupsFuzzed> => {
  const random = randomness(seed)
  const here = (name: string) => fileURLToPath(new URL(name, import.meta.url))
  const oracle = spawn(python(), ['-I', here('groups.py'), here('../../packages/agent/src/python/groups.py')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: oracle.stdout })[Symbol.asyncIterator]()
  const ask = async (text: string): Promise<Answer> => {
    oracle.stdin.write(`${JSON.stringify(text)}\n`)
    const answer = await lines.next()
    if (answer.done) throw new Error('the oracle has ended')
    return JSON.parse(answer.value) as Answer
  }
  const findings: GroupsFuzzed['findings'][number][] = []
  const found = (finding: GroupsFuzzed['findings'][number]) => {
    findings.push(finding)
    tell(`${finding.gate}: ${finding.groups.join(' ')}\n${finding.filter}`)
  }
  let [made, read, agent, server, dangerous] = [0, 0, 0, 0, 0]
  try {
    while (made < cases && findings.length <= 20) {
      const filter = makeFilter(random)
      made++
      const written = byAgent(filter)
      const passesServer = byServer(filter)
      if (made % 20_000 === 0) tell(`${made} made, ${read} read, ${agent} passed, ${findings.length} findings`)
      // What both refuse as text is asked about now and then, to see that the oracle knows danger.
      if (written === null && !passesServer && !random.chance(0.02)) continue
      const answer = await ask(written ?? filter)
      const reaching = answer?.[1] ?? []
      if (reaching.length > 0) dangerous++
      if (passesServer) server++
      if (passesServer && reaching.length > 0) found({ gate: 'server', groups: reaching, filter })
      if (written === null) continue
      read++
      if (answer === null || answer[0].length > 0) continue
      agent++
      if (reaching.length > 0) found({ gate: 'agent', groups: reaching, filter })
    }
  } finally {
    oracle.stdin.end()
    if (oracle.exitCode === null) await new Promise(resolve => oracle.once('close', resolve))
  }
  return { made, read, agent, server, dangerous, findings }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const print = (line: string) => process.stdout.write(`${line}\n`)
  const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 1_000_000)
  const started = Date.now()
  const { findings, ...counts } = await fuzzGroups(Number(process.env.FUZZ_CASES ?? 1_000_000), seed, line =>
    print(`${Math.round((Date.now() - started) / 1000)} s: ${line}`),
  )
  print(`seed ${seed}: ${JSON.stringify(counts)}, ${findings.length} findings`)
  process.exitCode = findings.length > 0 ? 1 : 0
}
