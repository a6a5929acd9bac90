import { describe, expect, test } from 'vitest'
import { commands, endpointNames, endpoints, eventKinds } from '@stockade/contract'
import type { EventKind } from '@stockade/contract'
import { commonFields } from '@stockade/contract/fields.ts'
import { openApiOf } from './document.ts'
import { isJson } from './schemas.ts'
import type { Json } from './schemas.ts'

const document = openApiOf(endpoints, '1.2.3', 'https://stockade.example')
const text = JSON.stringify(document)
const at = (path: string): unknown =>
  path
    .split('/')
    .slice(1)
    .reduce<unknown>((value, key) => (value as Json)[key.replaceAll('~1', '/').replaceAll('~0', '~')], document)
const schemas = at('#/components/schemas') as Record<string, Json>

/** Everything in the document that is an object, with its path. */
const nodes = (value: unknown, path: string): [string, Json][] => {
  if (Array.isArray(value)) return value.flatMap((part, index) => nodes(part, `${path}/${index}`))
  return isJson(value)
    ? [[path, value], ...Object.entries(value).flatMap(([key, part]) => nodes(part, `${path}/${key}`))]
    : []
}
const all = nodes(document, '#')

describe('the OpenAPI document', () => {
  test('names each operation as the contract does', () => {
    for (const [endpoint, name] of endpointNames)
      expect(
        at(`#/paths/~1api~1v1${endpoint.path.replaceAll('/', '~1')}/${endpoint.method.toLowerCase()}`),
      ).toMatchObject({ operationId: name, summary: endpoint.summary, 'x-access': endpoint.access })
    const ids = all.flatMap(([, { operationId }]) => (typeof operationId === 'string' ? [operationId] : []))
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('has a name for every object with fields', () => {
    const nameless = all.flatMap(([path, node]) =>
      isJson(node.properties) && !/^#\/components\/schemas\/\w+$/.test(path) && !path.endsWith('/properties')
        ? [path]
        : [],
    )
    expect(nameless).toEqual([])
    expect(Object.keys(schemas)).toEqual(
      expect.arrayContaining(['Server', 'Ban', 'Command', 'WhitelistEntry', 'User', 'Template', 'Problem']),
    )
  })

  test('refers only to what is there, and has no component that nothing refers to', () => {
    const references = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map(match => match[1] ?? ''))
    expect([...references].filter(reference => at(reference) === undefined)).toEqual([])
    const components = ['schemas', 'responses', 'parameters'].flatMap(kind =>
      Object.keys(at(`#/components/${kind}`) as object).map(name => `#/components/${kind}/${name}`),
    )
    expect(components.filter(component => !references.has(component))).toEqual([])
  })

  test('describes every field and every parameter', () => {
    const fields = all.flatMap(([path, { properties }]) =>
      isJson(properties) ? Object.entries(properties).map(([name, field]) => [`${path}.${name}`, field] as const) : [],
    )
    const parameters = all.filter(([path, node]) => node.in !== undefined && !path.includes('/securitySchemes/'))
    expect(fields.length).toBeGreaterThan(800)
    expect(parameters.length).toBeGreaterThan(50)
    const texts = [...fields, ...parameters].map(([path, node]) => [path, (node as Json).description] as const)
    expect(
      texts.flatMap(([path, text]) => (/^[A-Z`].*[.]$/.test(String(text)) ? [] : [`${path}: ${String(text)}`])),
    ).toEqual([])
  })

  test('has no common description that nothing uses', () => {
    expect(Object.values(commonFields).filter(meaning => !text.includes(JSON.stringify(meaning)))).toEqual([])
  })

  test('keeps what may be null', () => {
    expect(schemas.Server?.properties).toMatchObject({
      metrics: { anyOf: [{ $ref: '#/components/schemas/ServerMetrics' }, { type: 'null' }] },
      os: { type: ['string', 'null'] },
    })
    expect(schemas.ServerMetrics?.type).toBe('object')
  })

  test('tells the branches of a union by a field where there is one', () => {
    expect(schemas.Signature).toMatchObject({
      oneOf: [{ $ref: '#/components/schemas/Ed25519Signature' }, { $ref: '#/components/schemas/PasskeySignature' }],
      discriminator: {
        propertyName: 'kind',
        mapping: {
          ed25519: '#/components/schemas/Ed25519Signature',
          webauthn: '#/components/schemas/PasskeySignature',
        },
      },
    })
  })

  test('names the parameters of each type of command', () => {
    const types: readonly { readonly params: object }[] = Object.values(commands.commandTypes)
    const named = types.map(({ params }) => String((params as Json).title))
    expect(named).toContain('BanIpParams')
    expect(schemas.CommandParams?.anyOf).toEqual(named.map(name => ({ $ref: `#/components/schemas/${name}` })))
    expect(schemas.BanIpParams).toMatchObject({ required: ['jail', 'ip'], additionalProperties: false })
    const params = { $ref: '#/components/schemas/CommandParams' }
    for (const name of ['Command', 'AgentCommand', 'CommandTarget'])
      expect(schemas[name]?.properties, name).toMatchObject({ params })
  })

  test('describes each message of the live feed', () => {
    expect(at('#/paths/~1api~1v1~1ws/get/responses/101')).toMatchObject({
      content: { 'application/json': { schema: { $ref: '#/components/schemas/LiveMessage' } } },
    })
    const mapping = at('#/components/schemas/LiveMessage/discriminator/mapping') as Record<string, string>
    const kinds = Object.values<EventKind>(eventKinds).flatMap(({ live }) => live ?? [])
    expect(Object.keys(mapping).sort()).toEqual([...new Set([...kinds, 'resync', 'pulse'])].sort())
    for (const [type, reference] of Object.entries(mapping))
      expect(at(`${reference}/properties/type`), reference).toMatchObject({ const: type })
  })
})
