import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { endpoints } from '@stockade/contract'
import { openApiOf } from '../../packages/server/src/http/openapi/document.ts'
import { root } from './sources.ts'

/** What the page needs of a schema in the OpenAPI document. */
interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
}
interface Content {
  readonly description?: string
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>
}
interface Parameter {
  readonly $ref?: string
  readonly name?: string
  readonly in?: string
  readonly required?: boolean
}
interface Operation {
  readonly tags: readonly string[]
  readonly summary: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content>>
  readonly 'x-access'?: string
}
interface Document {
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly parameters: Readonly<Record<string, Parameter>>
  }
}

const lastOf = (ref: string): string => ref.split('/').at(-1) ?? ''
/** Names of bodies of one endpoint: their fields are shown, where others are shown by name. */
const isOfOneEndpoint = (name: string): boolean => /(Request|Response)$/.test(name)

/** The names of a body's fields; `?` where one can be left out, `[]` around the rows of a list. */
const fieldsOf = (document: Document, schema: Schema): string => {
  if (schema.$ref !== undefined) {
    const name = lastOf(schema.$ref)
    const named = document.components.schemas[name]
    return isOfOneEndpoint(name) && named ? fieldsOf(document, named) : name
  }
  const alternatives = schema.anyOf ?? schema.allOf
  if (alternatives) return alternatives.map(part => fieldsOf(document, part)).join(schema.anyOf ? ' or ' : ' and ')
  if (schema.items) return `[${fieldsOf(document, schema.items)}]`
  if (!schema.properties) return ''
  const names = Object.entries(schema.properties).map(([name, { items }]) => {
    const row = items?.$ref === undefined ? '' : `: [${lastOf(items.$ref)}]`
    return `${name}${schema.required?.includes(name) ? '' : '?'}${row}`
  })
  return `{ ${names.join(', ')} }`
}
const code = (text: string): string => (text === '' || text === '{  }' ? '' : `\`${text}\``)

const bodyOf = (document: Document, content: Content | undefined): string => {
  const [type, body] = Object.entries(content?.content ?? {})[0] ?? []
  if (type === undefined) return ''
  return type === 'application/json' && body?.schema ? code(fieldsOf(document, body.schema)) : type
}
const requestOf = (document: Document, { parameters = [], requestBody }: Operation): string => {
  const query = parameters
    .map(({ $ref, ...own }) => ($ref === undefined ? own : document.components.parameters[lastOf($ref)]))
    .flatMap(parameter =>
      parameter?.in === 'query' ? [`${parameter.name ?? ''}${parameter.required ? '' : '?'}`] : [],
    )
  return [query.length > 0 ? `query ${code(query.join(', '))}` : '', bodyOf(document, requestBody)]
    .filter(part => part !== '')
    .join('; ')
}
const replyOf = (document: Document, { responses }: Operation): string => {
  const [status = '', reply] = Object.entries(responses).find(([name]) => /^[1-3]/.test(name)) ?? []
  return `${status} ${bodyOf(document, reply)}`.trimEnd()
}

/** `docs/spec/endpoints.md`, made from the contract. */
export const endpointsPage = (): string => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const document = openApiOf(endpoints, version, '/') as unknown as Document
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const sections = document.tags.map(({ name, description }) => {
    const rows = operations
      .filter(({ operation }) => operation.tags[0] === name)
      .sort((a, b) => (`${a.path} ${a.method}` < `${b.path} ${b.method}` ? -1 : 1))
      .map(
        ({ path, method, operation }) =>
          `| \`${method.toUpperCase()} ${path.replace('/api/v1', '')}\` | ${operation.summary} | ${operation['x-access'] ?? ''} | ${requestOf(document, operation)} | ${replyOf(document, operation)} |`,
      )
    return [
      `## ${name}\n\n${description}\n`,
      '| endpoint | does | access | request | reply |',
      '| --- | --- | --- | --- | --- |',
      ...rows,
    ].join('\n')
  })
  return `# Endpoints

Made from the contract by \`npm run make -- spec\`; a test compares it. \`?\` marks what can be left out. A name with a capital letter is a resource of
the OpenAPI document, which has the type, bounds and meaning of each field. Access is explained in [access](access.md), errors in
[errors](errors.md).

${sections.join('\n\n')}
`
}
