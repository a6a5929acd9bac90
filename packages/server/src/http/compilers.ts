import { recordOf } from '@stockade/contract/untrusted.ts'
import type { FastifyInstance } from 'fastify'
import buildSerialiser from 'fast-json-stringify'
import { compileBody, compileText } from '../core/validation.ts'
import type { TextValidator } from '../core/validation.ts'

/**
 * Compiles a schema at its first use: to compile all of the contract takes half of the CPU of a start, and most processes use few. The
 * compiled function has no state, so all servers of a process share it.
 */
const onFirstUse = <T>(compile: (schema: object) => T): ((schema: object) => () => T) => {
  const compiledBySchema = new WeakMap<object, { readonly compiled: T }>()
  return schema => () => {
    const entry = compiledBySchema.get(schema) ?? { compiled: compile(schema) }
    compiledBySchema.set(schema, entry)
    return entry.compiled
  }
}
const bodyCheck = onFirstUse(compileBody)
const textCheck = onFirstUse(compileText)
const serialiser = onFirstUse(schema => buildSerialiser(schema))

/** `isChecked` says that another thread has validated this body already. */
export const compileLazily = (fastify: FastifyInstance, isChecked: (body: unknown) => boolean): void => {
  fastify.setValidatorCompiler(({ schema, httpPart }) => {
    const isBody = httpPart === 'body'
    const compiled: () => TextValidator = (isBody ? bodyCheck : textCheck)(recordOf(schema))
    const check: TextValidator = data => {
      if (isBody && isChecked(data)) return true
      const validate = compiled()
      const isValid = validate(data)
      check.errors = validate.errors ?? null
      return isValid
    }
    return check
  })
  fastify.setSerializerCompiler(({ schema }) => {
    const compiled = serialiser(recordOf(schema))
    return reply => compiled()(reply)
  })
}
