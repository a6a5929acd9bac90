import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { field, oneOf, shape } from './shapes.ts'

const tag = 'Service'

export const health = endpoint('GET /health', {
  tag,
  summary: 'The process lives',
  access: 'public',
  rate: 'none',
  reply: shape({ status: oneOf(['ok']), version: field(Type.String(), 'Version of Stockade.') }),
})

export const ready = endpoint('GET /ready', {
  tag,
  summary: 'The process serves and its storage answers',
  access: 'public',
  rate: 'none',
  reply: shape({ status: oneOf(['ok']) }),
  refusals: [503],
})
