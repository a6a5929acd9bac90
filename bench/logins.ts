import { Agent, request } from 'node:http'
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { password, spawnServer } from '@stockade/server/testing'
import { judge, median, say } from './report.ts'

/*
 * `npm run bench -- logins`: how long somebody who comes from a network that the account knows, with the right password, waits for a
 * sign-in while 400 strangers' sign-ins are in flight. The strangers are a process of their own, each from another IPv6 network; they come in
 * waves, and the right sign-in is sent when the first of them is answered. `BENCH=short` makes 3 waves in place of 12.
 */

const inFlight = 400
const waves = process.env.BENCH === 'short' ? 3 : 12
const goal = 1000
const home = '203.0.113.10'

interface Answer {
  readonly status: number
  readonly ms: number
}
const signIn = (port: number, agent: Agent, username: string, typed: string, from: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const body = JSON.stringify({ username, password: typed })
    const began = performance.now()
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': from }
    const path = '/api/v1/auth/login'
    const sent = request({ port, host: '127.0.0.1', agent, method: 'POST', path, headers }, reply => {
      reply.resume().on('end', () => resolve({ status: reply.statusCode ?? 0, ms: performance.now() - began }))
    })
    sent.on('error', reject)
    sent.end(body)
  })

/** A wave a line of input: prints "sent" when all are in flight, then what they were answered with. */
const strangers = async (port: number): Promise<void> => {
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight })
  let n = 0
  for await (const _ of createInterface({ input: process.stdin })) {
    const answers = Array.from({ length: inFlight }, () => {
      const net = `2001:db8:${(++n).toString(16)}::1`
      return signIn(port, agent, `stranger_${n}`, 'Wrong-1-password', net)
    })
    // The first refusal tells that the places of strangers are taken.
    await Promise.race(answers)
    say('sent')
    const statuses: Record<string, number> = {}
    for (const { status } of await Promise.all(answers)) statuses[status] = (statuses[status] ?? 0) + 1
    say(JSON.stringify(statuses))
  }
  agent.destroy()
}

const port = process.argv[2]
if (port) await strangers(Number(port))
else {
  const server = await spawnServer({ env: { STOCKADE_TRUSTED_PROXIES: '127.0.0.0/8' } })
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), String(server.port)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const agent = new Agent({ keepAlive: true })
  const right = async () => {
    const { status, ms } = await signIn(server.port, agent, 'admin', password, home)
    if (status !== 200) throw new Error(`A right sign-in from a known network was answered with ${status}.`)
    return ms
  }
  try {
    await server.setUp()
    // The first sign-in from there makes the network known.
    await right()
    const told = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const alone: number[] = []
    const among: number[] = []
    for (let wave = 0; wave < waves; wave++) {
      alone.push(await right())
      child.stdin.write('wave\n')
      await told.next()
      among.push(await right())
      say(
        `a right sign-in alone ${alone.at(-1)?.toFixed(0)} ms, among ${inFlight} strangers ${among.at(-1)?.toFixed(0)} ms; they were answered ${String((await told.next()).value)}`,
      )
    }
    say(
      `median: alone ${median(alone).toFixed(0)} ms, among strangers ${median(among).toFixed(0)} ms; longest ${Math.max(...among).toFixed(0)} ms`,
    )
    judge('a right sign-in in ms, median, at most', median(among), goal)
    if (median(among) > goal) process.exitCode = 1
  } finally {
    child.stdin.end()
    agent.destroy()
    await server.close()
  }
}
