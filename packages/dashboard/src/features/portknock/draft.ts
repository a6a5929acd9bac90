import type { BodyOf, portknock } from '@stockade/contract'
import { bounds } from '@stockade/contract/limits.ts'
import { keysOf, pick } from '@stockade/contract/records.ts'
import { readDuration } from '@stockade/contract/durations.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { portknockTexts } from './portknock.texts.ts'
import type { Sequence } from './queries.ts'

/* A sequence as a form holds it: what was typed, and what is wrong with it, by the rules of the server. */

export interface Draft {
  readonly name: string
  readonly port: string
  readonly knocks: string
  readonly protocol: 'tcp' | 'udp'
  readonly timeout: string
  readonly knockTimeout: string
  readonly maxAttempts: string
  readonly block: string
  readonly servers: readonly string[]
}
type Body = BodyOf<typeof portknock.createSequence>
export type Whole = Required<Body>
export type Field = Exclude<keyof Draft, 'protocol'>

/** `90` as `90s`, `3600` as `1h`: as it is typed. */
export const typedTime = (seconds: number): string =>
  seconds % 86_400 === 0
    ? `${seconds / 86_400}d`
    : seconds % 3600 === 0
      ? `${seconds / 3600}h`
      : seconds % 60 === 0
        ? `${seconds / 60}m`
        : `${seconds}s`

/** Ports that nothing usual listens on, in an order that no scan takes. Three of 50,000: more than can be tried. */
export const portsByChance = (except: readonly number[] = []): number[] => {
  for (;;) {
    const ports = [...crypto.getRandomValues(new Uint32Array(3))].map(value => 10_000 + (value % 50_000))
    if (new Set(ports).size === 3 && !slopeOf(ports) && !ports.some(port => except.includes(port))) return ports
  }
}

export const emptyDraft = (): Draft => ({
  name: '',
  port: '',
  knocks: portsByChance().join(' '),
  protocol: 'tcp',
  timeout: '30s',
  knockTimeout: '10s',
  maxAttempts: '5',
  block: '1h',
  servers: [],
})

export const draftOf = (sequence: Sequence): Draft => ({
  name: sequence.name,
  port: String(sequence.protected_port),
  knocks: (sequence.knock_ports ?? []).join(' '),
  protocol: sequence.protocol,
  timeout: typedTime(sequence.timeout),
  knockTimeout: typedTime(sequence.knock_timeout),
  maxAttempts: String(sequence.max_attempts),
  block: typedTime(sequence.block_duration),
  servers: sequence.servers.map(({ id }) => id).sort(),
})

const wholeNumber = (text: string, most: number): number | null => {
  const portNumber = /^\d{1,9}$/.test(text.trim()) ? Number(text) : 0
  return portNumber >= 1 && portNumber <= most ? portNumber : null
}
const wordsOf = (knocks: string): string[] => knocks.split(/(?:\s|,|;|→|->)+/).filter(Boolean)
/** The ports as far as they are ones: for the preview. */
export const portsOf = (knocks: string): number[] => wordsOf(knocks).flatMap(word => wholeNumber(word, 65_535) ?? [])

/** Whether a port scan would walk through. */
export const slopeOf = (ports: readonly number[]): 'rising' | 'falling' | null => {
  if (ports.length < 2) return null
  const steps = ports.slice(1).map((port, index) => port - (ports[index] ?? 0))
  return steps.every(step => step > 0) ? 'rising' : steps.every(step => step < 0) ? 'falling' : null
}

const times = {
  timeout: [86_400, '1d'],
  knockTimeout: [300, '5m'],
  block: [bounds.seconds, '1y'],
} as const

const knocksProblem = (knocks: string, protectedPort: number | null): string | undefined => {
  const t = textsOf(portknockTexts).form.wrong
  const words = wordsOf(knocks)
  const wrong = words.find(word => wholeNumber(word, 65_535) === null)
  if (wrong !== undefined) return t.notPort(wrong.slice(0, 40))
  if (words.length < 2) return t.tooFew
  if (words.length > 10) return t.tooMany
  const ports = portsOf(knocks)
  const twice = ports.find((port, index) => index > 0 && port === ports[index - 1])
  if (twice !== undefined) return t.neighbours(twice)
  if (protectedPort !== null && ports.includes(protectedPort)) return t.isProtected(protectedPort)
  return undefined
}

/** What is to be sent, or what has to be mended first, by field. */
export const readDraft = (draft: Draft): { body: Whole | null; problems: Partial<Record<Field, string>> } => {
  const t = textsOf(portknockTexts).form.wrong
  const name = draft.name.trim()
  const port = wholeNumber(draft.port, 65_535)
  const attempts = wholeNumber(draft.maxAttempts, 100)
  const time = (field: keyof typeof times) => {
    const seconds = readDuration(draft[field])
    return seconds !== null && seconds >= 1 && seconds <= times[field][0] ? seconds : null
  }
  const [timeout, knockTimeout, block] = [time('timeout'), time('knockTimeout'), time('block')]
  const knocks = knocksProblem(draft.knocks, port)
  const badTime = (field: keyof typeof times) => ({ [field]: t.time('1s', times[field][1]) })
  const problems: Partial<Record<Field, string>> = {
    ...(name === '' ? { name: t.nameMissing } : [...name].length > 100 ? { name: t.nameLong } : {}),
    ...(port === null ? { port: t.port } : {}),
    ...(knocks ? { knocks } : {}),
    ...(timeout === null ? badTime('timeout') : {}),
    ...(knockTimeout === null ? badTime('knockTimeout') : {}),
    ...(attempts === null ? { maxAttempts: t.attempts } : {}),
    ...(block === null ? badTime('block') : {}),
  }
  if (
    Object.keys(problems).length > 0 ||
    port === null ||
    timeout === null ||
    knockTimeout === null ||
    attempts === null ||
    block === null
  )
    return { body: null, problems }
  return {
    body: {
      name,
      protected_port: port,
      knock_ports: portsOf(draft.knocks),
      protocol: draft.protocol,
      timeout,
      knock_timeout: knockTimeout,
      max_attempts: attempts,
      block_duration: block,
      server_ids: [...draft.servers],
    },
    problems: {},
  }
}

/** Only what differs, so that what somebody else changed meanwhile stays; null where nothing does. */
export const changesOf = (before: Sequence, body: Whole): Partial<Whole> | null => {
  const old: Whole = {
    name: before.name,
    protected_port: before.protected_port,
    knock_ports: before.knock_ports ?? [],
    protocol: before.protocol,
    timeout: before.timeout,
    knock_timeout: before.knock_timeout,
    max_attempts: before.max_attempts,
    block_duration: before.block_duration,
    server_ids: before.servers.map(({ id }) => id),
  }
  const plain = (of: Whole, key: keyof Whole) =>
    JSON.stringify(key === 'server_ids' ? of.server_ids.toSorted() : of[key])
  const changed = keysOf(body).filter(key => plain(body, key) !== plain(old, key))
  return changed.length === 0 ? null : pick(body, changed)
}

/** The field that a refusal for another sequence is about, so that its sentence, which names the other, can stand there. */
export const conflictOf = (body: Whole, others: readonly Sequence[], sentence: string): Field | null => {
  const other = others.find(({ name }) => sentence.includes(`"${name}"`))
  if (!other) return null
  if (other.servers.some(({ id }) => body.server_ids.includes(id))) {
    const theirs = other.knock_ports ?? []
    if (other.protected_port === body.protected_port || theirs.includes(body.protected_port)) return 'port'
    if (body.knock_ports.includes(other.protected_port)) return 'knocks'
    if (other.protocol === body.protocol && body.knock_ports.some(port => theirs.includes(port))) return 'knocks'
  }
  return other.name.toLowerCase() === body.name.toLowerCase() ? 'name' : null
}
