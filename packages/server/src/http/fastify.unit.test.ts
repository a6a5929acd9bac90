import { Writable } from 'node:stream'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openFastify } from './fastify.ts'

test('the log of requests holds neither the query nor the token of a feed', async () => {
  const lines: string[] = []
  const sink = new Writable({
    write: (line: Buffer, _, done) => {
      lines.push(line.toString())
      done()
    },
  })
  const fastify = openFastify({
    log: pino({ level: 'debug' }, sink),
    trustedProxies: [],
    baseUrl: () => 'http://localhost',
    tls: null,
    isStrict: () => false,
    isDraining: () => false,
    observe: () => {},
  })
  fastify.get('/api/v1/feeds/:token', async () => 'text')
  // Also where no route answers: another method, a longer path, an empty part.
  await fastify.inject('/api/v1/feeds/very-secret?format=plain')
  await fastify.inject({ method: 'POST', url: '/api/v1/feeds/very-secret' })
  await fastify.inject('/api/v1/feeds/very-secret/more')
  await fastify.inject('/invite?code=very-secret')
  await fastify.close()
  const paths = lines.map(line => (JSON.parse(line) as { url?: string }).url).filter(url => url !== undefined)
  expect(paths).toEqual(['/api/v1/feeds/[token]', '/api/v1/feeds/[token]', '/api/v1/feeds/[token]/more', '/invite'])
  expect(lines.join('')).not.toContain('very-secret')
})
