import { parentPort } from 'node:worker_threads'
import Fastify from 'fastify'
import type { ValidateFunction } from 'ajv'
import type { TSchema } from 'typebox'
import { endpoints } from '@stockade/contract'
import { jsonExcess } from '../core/json-text.ts'
import { withoutNul } from '../core/text.ts'
import type { Judged, LargeBody } from './large-body.ts'
import { compileLargeBody, detailsOf } from '../core/validation.ts'

/* Validates large bodies in a thread of its own, so that text made to be slow to parse or to refuse does not block others. */

/** Nothing in the contract is nested deeper. */
const deepest = 64
/** So many values may stand in any body; in one with long arrays, so many for each of their items. */
const values = { least: 60_000, perItem: 5 } as const

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
/** The longest array that a shape allows. */
const longest = (schema: unknown): number =>
  isObject(schema)
    ? Math.max(typeof schema.maxItems === 'number' ? schema.maxItems : 0, 0, ...Object.values(schema).map(longest))
    : 0

/** Why the text is not worth parsing: it holds more values, or is nested deeper, than any body that is meant. */
const tooMuch = (text: string, most: number): string | null => {
  const excess = jsonExcess(text, { depth: deepest, values: most })
  if (excess === null) return null
  return excess === 'deep'
    ? `The body is nested deeper than ${deepest} levels.`
    : `The body holds more than ${most} values.`
}

interface Judge {
  readonly most: number
  readonly check: ValidateFunction | null
}
const judgeOf = (schema: TSchema | undefined): Judge => ({
  most: Math.max(values.least, values.perItem * longest(schema)),
  check: schema ? compileLargeBody(schema) : null,
})
const judges = new Map<string, Judge>()
const byName = new Map(endpoints.map(endpoint => [`${endpoint.method} ${endpoint.path}`, endpoint]))
const judgeFor = (name: string): Judge => {
  const knownJudge = judges.get(name) ?? judgeOf(byName.get(name)?.body)
  judges.set(name, knownJudge)
  return knownJudge
}
// The server's own parser, which refuses keys that reach for an object's prototype.
const parse = Fastify().getDefaultJsonParser('error', 'error')
const parsed = (text: string): unknown => {
  let result: unknown
  // It calls back before it returns.
  void parse({} as never, text, (error, value) => {
    if (error) throw error
    result = value
  })
  return result
}

const refuse = (refused: string) => ({ refused, details: null, instead: null })
const judge = ({ name, text }: LargeBody): Judged => {
  const { most, check } = judgeFor(name)
  const much = tooMuch(text, most)
  if (much !== null) return refuse(much)
  const json = withoutNul(text)
  try {
    const value = parsed(json)
    const details = check && !check(value) ? detailsOf(check.errors) : null
    // A refused body is not sent back: copying it would block the event loop after all.
    return { refused: null, details, instead: details || json === text ? null : json }
  } catch {
    return refuse('The body is not valid JSON: it can not be parsed.')
  }
}
parentPort?.on('message', (body: LargeBody) => parentPort?.postMessage(judge(body)))
