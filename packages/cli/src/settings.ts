import { isRecord, recordOf } from '@stockade/contract/untrusted.ts'
import { Argument } from 'commander'
import type { Command } from 'commander'
import type { EndpointName } from '@stockade/contract'
import { contentOf } from './content.ts'
import { contextOf } from './context.ts'
import { Misuse } from './failure.ts'
import { print, printEither, printJson } from './print.ts'
import { printReply, writeOut } from './printed.ts'
import { safe } from './safe.ts'
import { printTest } from './steps.ts'

/* The settings of the installation. What each may be is read from the contract, so a new one needs nothing here. */

const sections = {
  general: ['GET /settings', 'PATCH /settings'],
  email: ['GET /settings/email', 'PATCH /settings/email'],
  chat: ['GET /settings/chat', 'PATCH /settings/chat'],
  oauth: ['GET /settings/oauth', 'PATCH /settings/oauth'],
  reputation: ['GET /settings/reputation', 'PATCH /settings/reputation'],
  siem: ['GET /siem/settings', 'PATCH /siem/settings'],
} as const satisfies Record<string, readonly [read: EndpointName, change: EndpointName]>
type Section = keyof typeof sections
const sectionArgument = () => new Argument('<section>', 'which settings').choices(Object.keys(sections))

interface Shape {
  readonly type?: string | readonly string[]
  readonly anyOf?: readonly Shape[]
  readonly properties?: Readonly<Record<string, Shape>>
}
type Value = string | number | boolean | null | readonly string[]
type Tree = { [name: string]: Value | Tree }
const isTree = (value: Value | Tree | undefined): value is Tree => isRecord(value)

const typesOf = ({ type, anyOf = [] }: Shape): readonly string[] => [...[type ?? []].flat(), ...anyOf.flatMap(typesOf)]
const truths: Readonly<Record<string, boolean>> = {
  yes: true,
  true: true,
  on: true,
  no: false,
  false: false,
  off: false,
}

/** What was typed, as the setting takes it; the server says where a value is out of its bounds. */
const valueOf = (name: string, shape: Shape, text: string): Value => {
  const types = typesOf(shape)
  if (text === '' && types.includes('null')) return null
  if (types.includes('array')) return text.split(',').flatMap(part => part.trim() || [])
  if (types.includes('boolean')) {
    const truth = truths[text.toLowerCase()]
    if (truth === undefined) throw new Misuse(`${name} is yes or no, not "${safe(text)}".`)
    return truth
  }
  if (!types.includes('integer')) return text
  if (!/^-?\d{1,15}$/.test(text)) throw new Misuse(`${name} is a whole number, not "${safe(text)}".`)
  return Number(text)
}
const namesIn = (shape: Shape, above = ''): readonly string[] =>
  Object.entries(shape.properties ?? {}).flatMap(([name, each]) =>
    each.properties ? namesIn(each, `${above}${name}.`) : [`${above}${name}`],
  )

/** Puts `a.b=VALUE` into a body. A name may lack its part before the dot where only one fits. */
const put = async (body: Tree, shape: Shape, typed: string): Promise<void> => {
  const at = typed.indexOf('=')
  if (at < 1) throw new Misuse(`"${safe(typed)}" is no change: give NAME=VALUE, or NAME=@FILE.`)
  const settingName = typed.slice(0, at)
  const names = namesIn(shape)
  const fitting = names.filter(name => name === settingName || name.endsWith(`.${settingName}`))
  const [name, other] = fitting
  if (name === undefined) throw new Misuse(`There is no setting ${safe(settingName)}. There are: ${names.join(', ')}.`)
  if (other !== undefined) throw new Misuse(`Say which: ${fitting.join(' or ')}.`)
  const text = typed.slice(at + 1)
  const content = text.startsWith('@') ? (await contentOf(text.slice(1))).trim() : text
  let [tree, part] = [body, shape]
  const path = name.split('.')
  for (const step of path.slice(0, -1)) {
    const below = tree[step]
    tree = tree[step] = isTree(below) ? below : {}
    part = part.properties?.[step] ?? {}
  }
  const last = path.at(-1) ?? ''
  tree[last] = valueOf(name, part.properties?.[last] ?? {}, content)
}

type Fields = Readonly<Record<string, unknown>>
const flat = (tree: Fields, above = ''): ReadonlyMap<string, unknown> =>
  new Map(
    Object.entries(tree).flatMap(([name, value]) =>
      isRecord(value) ? [...flat(value, `${above}${name}.`)] : [[`${above}${name}`, value] satisfies [string, unknown]],
    ),
  )
const valueText = (value: unknown): string => (value === undefined ? 'a secret' : safe(JSON.stringify(value)))
/** Prints what would become different; a secret is not shown, and is never known to be the same. */
const printChanges = (before: Fields, after: Fields): void => {
  const old = flat(before)
  const changes = [...flat(after)].filter(
    ([name, value]) => !old.has(name) || JSON.stringify(old.get(name)) !== JSON.stringify(value),
  )
  for (const [name, value] of changes)
    print(
      old.has(name)
        ? `${name}: ${valueText(old.get(name))} -> ${valueText(value)}`
        : `${name}: ${valueText(undefined)}`,
    )
  print(changes.length === 0 ? 'Everything is so already.' : 'Nothing was done.')
}

const runShow = async (section: Section | undefined, _: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const reply = recordOf(await client.callByName(sections[section ?? 'general'][0]))
  if (json) printJson(reply)
  else printReply(reply)
}

const runSet = async (
  section: Section,
  changes: readonly string[],
  { dryRun }: { readonly dryRun?: boolean },
  command: Command,
): Promise<void> => {
  const { endpoints } = await import('@stockade/contract')
  const [read, change] = sections[section]
  const shape: Shape = endpoints.find(({ method, path }) => `${method} ${path}` === change)?.body ?? {}
  const body: Tree = {}
  for (const typed of changes) await put(body, shape, typed)
  const { client, json } = contextOf(command)
  if (dryRun) {
    if (json) return printJson({ dry_run: true, changes: [...flat(body).keys()] })
    return printChanges(recordOf(await client.callByName(read)), body)
  }
  const reply = recordOf(await client.callByName(change, { body }))
  printEither(json, reply, safe(String(reply.message)))
}

const runTest = async (
  section: 'email' | 'chat',
  { to }: { readonly to?: string },
  command: Command,
): Promise<void> => {
  if (section === 'chat' && to !== undefined) throw new Misuse('--to is for email.')
  const { client, json } = contextOf(command)
  const test = () =>
    section === 'chat'
      ? client.call('POST /settings/chat/test')
      : client.call('POST /settings/email/test', { body: to === undefined ? {} : { recipient: to } })
  await printTest(test, json)
}

const runExport = async ({ out }: { readonly out?: string }, command: Command): Promise<void> =>
  writeOut(out, await contextOf(command).client.call('GET /settings/export'))

const runImport = async (file: string, { dryRun }: { readonly dryRun?: boolean }, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  let body: unknown
  try {
    body = JSON.parse(await contentOf(file))
  } catch (error) {
    if (error instanceof Misuse) throw error
    throw new Misuse(`${safe(file)} is not JSON.`)
  }
  const { settings } = recordOf(body)
  if (!isRecord(settings)) throw new Misuse(`${safe(file)} is not what "stockade settings export" writes.`)
  if (dryRun) {
    if (json) return printJson({ dry_run: true, changes: [...flat(settings).keys()] })
    return printChanges(await client.call('GET /settings'), settings)
  }
  const reply = recordOf(await client.callByName('POST /settings/import', { body }))
  printEither(json, reply, safe(String(reply.message)))
}

export const addSettings = (program: Command): void => {
  const settings = program.command('settings').description('settings of the installation (needs admin)')
  settings
    .command('show')
    .description('show settings; of secrets only whether there is one')
    .addArgument(sectionArgument().argOptional())
    .action(runShow)
  settings
    .command('set')
    .description('change settings')
    .addArgument(sectionArgument())
    .argument('<name=value...>', 'a setting; NAME= empties it, NAME=@FILE reads a secret, a list has commas')
    .option('--dry-run', 'say what would change')
    .action(runSet)
  settings
    .command('test')
    .description('send a test message and show each step')
    .addArgument(new Argument('<section>', 'by which way').choices(['email', 'chat']))
    .option('--to <address>', 'with email: to this address')
    .action(runTest)
  settings
    .command('export')
    .description('print the general settings, to import them elsewhere')
    .option('--out <file>', 'into this file, which must not be there yet')
    .action(runExport)
  settings
    .command('import')
    .description('take over what "settings export" wrote')
    .argument('<file>', 'the file, or - for standard input')
    .option('--dry-run', 'say what would change')
    .action(runImport)
}
