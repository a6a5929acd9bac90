import { Type } from 'typebox'
import type { Static, TProperties, TSchema } from 'typebox'
import { recordOf } from './untrusted.ts'

/* What makes schemas. The schemas that many endpoints share are in common.ts. */

/** An object that has exactly these fields; inputs with others are refused, outputs with others are cut. */
export const shape = <P extends TProperties>(properties: P) => Type.Object(properties, { additionalProperties: false })

/** A shape with a name: the API document shows it as a component, and generated clients as a type. */
export const resource = <P extends TProperties>(title: string, properties: P, description?: string) =>
  Type.Object(properties, { additionalProperties: false, title, ...(description ? { description } : {}) })

/** An object with a name whose unknown fields are ignored, so that newer agents can talk to older servers. */
export const openResource = <P extends TProperties>(title: string, properties: P) => Type.Object(properties, { title })

const source = Symbol('source')
/** The schema that another one was made of by `field` or `nullable`; the schema itself if it was made by neither. */
export const sourceOf = (schema: { readonly [source]?: object }): object => schema[source] ?? schema

const derived = <T extends TSchema>(schema: T, changes: object): T =>
  Object.defineProperties(
    { ...schema },
    {
      ...Object.getOwnPropertyDescriptors(schema),
      ...Object.getOwnPropertyDescriptors({ [source]: sourceOf(schema), ...changes }),
    },
  )

/** The same schema with a description of what it means at this place. */
export const field = <T extends TSchema>(schema: T, description: string): T => derived(schema, { description })

/** The value, or null where it is unknown. */
export const nullable = <T extends TSchema>(schema: T) => {
  const { type, enum: values } = recordOf(schema)
  return Type.Unsafe<Static<T> | null>(
    derived(schema, { type: [type, 'null'], ...(Array.isArray(values) ? { enum: [...values, null] } : {}) }),
  )
}

export const oneOf = <const V extends readonly string[]>(values: V, options: object = {}) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...options })

/** Input that matches one of the values in any letter case, such as role names. */
export const oneOfAnyCase = <const V extends readonly string[]>(values: V) =>
  Type.Unsafe<V[number] | Lowercase<V[number]>>({
    type: 'string',
    pattern: `^(?:${values.map(v => [...v].map(c => (/[a-z]/i.test(c) ? `[${c.toLowerCase()}${c.toUpperCase()}]` : c)).join('')).join('|')})$`,
  })

export const text = (minLength: number, maxLength: number, options: object = {}) =>
  Type.String({ minLength, maxLength, ...options })
