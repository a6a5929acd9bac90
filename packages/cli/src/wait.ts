import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '@stockade/client'
import type { Client, Reply } from '@stockade/client'

type Commands = Reply<'GET /commands'>['commands']
const page = 100

/** Asks again where the server says that it is only busy, and tells how long that takes; everything else is thrown. */
export const patiently = async <T>(
  until: number,
  ask: () => Promise<T>,
  told: (seconds: number) => void = () => {},
): Promise<T> => {
  for (;;)
    try {
      return await ask()
    } catch (error) {
      const passing = error instanceof ApiError && (error.status === 429 || error.status === 503)
      const wait = passing ? (error.retryAfter ?? 2) * 1000 : 0
      if (!passing || Date.now() + wait > until) throw error
      told(wait / 1000)
      await sleep(wait)
    }
}

const open = ({ status }: { status: string }) => status === 'pending' || status === 'running'

/**
 * Waits until every command of a batch has ended, at most so many seconds, and answers them all, by hostname. A large
 * batch is only counted meanwhile, so that a minute's waiting stays well within a minute's budget of requests.
 */
export const waitForBatch = async (
  client: Client,
  batch_id: string,
  size: number,
  seconds: number,
): Promise<Commands> => {
  const started = Date.now()
  const until = started + seconds * 1000
  const list = (number: number) => client.call('GET /commands', { query: { batch_id, limit: page, page: number } })
  const count = (status: 'pending' | 'running') =>
    client.call('GET /commands', { query: { batch_id, status, limit: 1 } }).then(({ total }) => total)
  const ended = async () =>
    size <= page ? !(await list(1)).commands.some(open) : (await count('pending')) + (await count('running')) === 0
  while (!(await patiently(until, ended)) && Date.now() < until)
    await sleep(Math.min(Date.now() - started < 5000 ? 500 : 2500, Math.max(0, until - Date.now())))
  const commands: Commands[number][] = []
  for (let number = 1; commands.length < size; number++) {
    const next = await patiently(Date.now() + 120_000, () => list(number))
    commands.push(...next.commands)
    if (next.commands.length < page) break
  }
  return commands.sort((a, b) => (a.server.hostname < b.server.hostname ? -1 : 1))
}

/** Waits until a command has ended, for `seconds` at most, and returns its state then. */
export const waitForCommand = async (
  client: Client,
  commandId: string,
  seconds: number,
): Promise<Reply<'GET /commands/{commandId}'>> => {
  const until = Date.now() + seconds * 1000
  for (;;) {
    const command = await patiently(until, () => client.call('GET /commands/{commandId}', { params: { commandId } }))
    if (!open(command) || Date.now() >= until) return command
    await sleep(Math.min(500, Math.max(0, until - Date.now())))
  }
}
