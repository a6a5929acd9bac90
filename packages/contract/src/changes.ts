import { Type } from 'typebox'
import type { TProperties } from 'typebox'
import { shape } from './shapes.ts'

/** The body of a PATCH: every field optional, what is absent stays as it is, what is unknown is refused. */
export const partly = <P extends TProperties>(fields: P, title?: string) =>
  Type.Partial(shape(fields), { additionalProperties: false, ...(title ? { title } : {}) })
