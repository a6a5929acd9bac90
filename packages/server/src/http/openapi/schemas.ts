import { shapes } from '@stockade/contract'
import { commonFields } from '@stockade/contract/fields.ts'

export type Json = Readonly<Record<string, unknown>>

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export interface Components {
  /** A reference to the component of a named schema; the schema itself where it has no name. */
  refer(schema: object): Json
  /** As `refer`, and gives an object without a name the one that is passed. */
  referAs(name: string, schema: object): Json
  /** All components so far, by name. */
  all(): Record<string, Json>
}

/** Keywords whose values are schemas by name. */
const maps = new Set(['properties', 'patternProperties'])
/** Keywords that only the server itself uses. */
const internal = new Set(['title', 'errorMessage', 'documentedAs'])
/** What TypeBox writes for a record whose keys are any text. */
const anyKey = '^.*$'

const isNullable = (schema: Json): boolean => [schema.type].flat().includes('null')
const schemaOf = (value: unknown): Json => (isJson(value) ? value : {})

/** A field or parameter with the usual description of its name, where it has none of its own. */
export const described = (name: string, schema: Json): Json =>
  schema.description === undefined && commonFields[name] !== undefined
    ? { ...schema, description: commonFields[name] }
    : schema

/** Collects the named schemas of the contract, which are those with a `title`, as components. */
export const createComponents = (): Components => {
  const components = new Map<string, { readonly source: object; readonly schema: Json }>()

  const define = (name: string, source: object): Json => {
    const knownComponent = components.get(name)
    // TypeBox copies a schema to make it optional, so the same schema can be several objects.
    if (
      knownComponent &&
      knownComponent.source !== source &&
      JSON.stringify(knownComponent.source) !== JSON.stringify(source)
    )
      throw new Error(`Two schemas have the name ${name}.`)
    if (!knownComponent) {
      // Reserved before its fields are read, so that components keep the order of the contract.
      components.set(name, { source, schema: {} })
      components.set(name, { source, schema: inline(schemaOf(source)) })
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  const refer = (schema: object): Json => {
    const own = schemaOf(schema)
    if (isJson(own.documentedAs)) return referDocumented(own, own.documentedAs)
    const source = schemaOf(shapes.sourceOf(schema))
    if (typeof source.title !== 'string') return inline(own)
    const reference = define(source.title, source)
    const described = own.description === source.description ? {} : { description: own.description }
    return isNullable(own) && !isNullable(source)
      ? { anyOf: [reference, { type: 'null' }], ...described }
      : { ...reference, ...described }
  }

  /** A field that the service checks by a schema of its own choice: the document shows all that it may be. */
  const referDocumented = ({ description }: Json, documented: Json): Json => ({
    ...referAs(String(documented.title), documented),
    ...(description === undefined ? {} : { description }),
  })

  const inline = (schema: Json): Json =>
    Object.fromEntries(
      Object.entries(schema)
        .filter(([keyword]) => !internal.has(keyword))
        .map(([keyword, value]): [string, unknown] => {
          if (keyword === 'patternProperties' && anyKey in schemaOf(value))
            return ['additionalProperties', refer(schemaOf(schemaOf(value)[anyKey]))]
          if (maps.has(keyword))
            return [
              keyword,
              Object.fromEntries(
                Object.entries(schemaOf(value)).map(([name, field]) => [name, described(name, refer(schemaOf(field)))]),
              ),
            ]
          // A union that says by which field its branches differ has exactly one that fits.
          if (keyword === 'anyOf' && Array.isArray(value))
            return ['discriminator' in schema ? 'oneOf' : 'anyOf', value.map(part => refer(schemaOf(part)))]
          if (keyword === 'discriminator') return [keyword, { ...schemaOf(value), mapping: mappingOf(schema) }]
          if ((keyword === 'items' || keyword === 'additionalProperties') && isJson(value))
            return [keyword, refer(value)]
          return [keyword, value]
        }),
    )

  /** Which component stands for which value of the field that tells the branches of a union apart. */
  const mappingOf = ({ anyOf, discriminator }: Json): Json => {
    const key = String(schemaOf(discriminator).propertyName)
    const branches = Array.isArray(anyOf) ? anyOf.map(branch => schemaOf(branch)) : []
    return Object.fromEntries(
      branches.map(branch => [
        String(schemaOf(schemaOf(branch.properties)[key]).const),
        `#/components/schemas/${String(branch.title)}`,
      ]),
    )
  }

  const isNameless = (schema: Json) =>
    shapes.sourceOf(schema) === schema && schema.title === undefined && ('properties' in schema || 'anyOf' in schema)

  const referAs = (name: string, schema: object): Json =>
    isNameless(schemaOf(schema)) ? define(name, schema) : refer(schema)

  return {
    refer,
    referAs,
    all: () =>
      Object.fromEntries(
        [...components].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, { schema }]) => [name, schema]),
      ),
  }
}
