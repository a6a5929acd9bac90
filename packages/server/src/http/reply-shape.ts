import type { ContentType, Endpoint } from '@stockade/contract'
import { recordOf } from '@stockade/contract/untrusted.ts'

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
const withoutClosedObjects = (schema: unknown): object =>
  Array.isArray(schema)
    ? schema.map(part => (isObject(part) ? withoutClosedObjects(part) : part))
    : Object.fromEntries(
        Object.entries(recordOf(schema))
          .filter(([key, value]) => key !== 'additionalProperties' || value !== false)
          .map(([key, value]): [string, unknown] => [key, isObject(value) ? withoutClosedObjects(value) : value]),
      )

const openShapes = new WeakMap<object, object>()
/**
 * The reply's shape for the serialiser. It picks the branch of a union that fits, and a branch that forbids other fields would not
 * fit an object with one field more. There, as elsewhere, fields that are not in the shape are left out. One reply has one shape, by
 * which its serialiser is found again.
 */
export const serialisedShape = (reply: Endpoint['reply'], produces: readonly ContentType[]): object => {
  const schema = 'anyOf' in reply ? (openShapes.get(reply) ?? withoutClosedObjects(reply)) : reply
  if (schema !== reply) openShapes.set(reply, schema)
  return produces.length === 1 ? schema : { content: { 'application/json': { schema } } }
}
