import { EventEmitter } from 'node:events'
import type { FastifyRequest } from 'fastify'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { WebSocket } from 'ws'
import type { Principal } from '../../core/actor.ts'
import { createReview } from './review.ts'
import type { Listening } from './review.ts'

test('each credential is looked at once a second, and a feed whose credential is gone ends within that second', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const actor = { kind: 'user', servers: 'all', ip: null } as unknown as Principal
  const closed: string[] = []
  const clientOf = (credential: string): Listening => ({
    socket: Object.assign(new EventEmitter(), {
      close: (code: number) => closed.push(`${credential} ${code}`),
    }) as unknown as WebSocket,
    actor,
    request: credential as unknown as FastifyRequest,
    credential,
  })
  const credentials = Array.from({ length: 40 }, (_, n) => `key ${n}`)
  const gone = new Set<unknown>()
  const looked: unknown[] = []
  const review = createReview({
    // Two feeds of one credential are one look.
    clients: new Set([...credentials, ...credentials].map(clientOf)),
    renew: request => {
      looked.push(request)
      return Promise.resolve(gone.has(request) ? null : actor)
    },
    log: error => {
      throw error
    },
  })
  onTestFinished(() => review.close())
  await vi.advanceTimersByTimeAsync(1000)
  expect([looked.length, new Set(looked)]).toEqual([40, new Set(credentials)])
  expect(closed).toEqual([])
  gone.add('key 7')
  await vi.advanceTimersByTimeAsync(1000)
  expect(closed).toEqual(['key 7 4401', 'key 7 4401'])
})
