import type { Command } from 'commander'
import type { Client, Reply } from '@stockade/client'
import type { SelfTestResult } from '@stockade/contract/command-types/self-test.ts'
import { contextOf } from './context.ts'
import { Failure } from './failure.ts'
import { findServer } from './named.ts'
import { print, printJson, printTable } from './print.ts'
import { safe } from './safe.ts'
import { wholeOf } from './times.ts'
import { waitForCommand } from './wait.ts'

type Ended = Reply<'GET /commands/{commandId}'>

const sentences = {
  proved: 'Proved: a packet of a banned address is dropped on this host, and passes again after the ban.',
  held: 'Held, not tried: the kernel holds bans, but no packet could be tried on this host.',
  failed: 'FAILED: see the steps.',
} as const

export const addSelfTest = (program: Command): void => {
  program
    .command('test')
    .description('test on a host that a ban stops packets: from this command to the kernel')
    .argument('<name-or-id>', 'its hostname or id')
    .option('--wait <seconds>', 'how long to wait for the host', wholeOf, 60)
    .action(async (typed: string, { wait }: { wait: number }, command: Command) => {
      const { client, json } = contextOf(command)
      const params = { serverId: await findServer(client, typed) }
      const ended = await runSelfTest(client, params, wait)
      if (json) printJson(ended)
      else printSelfTest(ended)
      if (!ended.result?.success) throw new Failure('The self-test failed.')
    })
}

const runSelfTest = async (client: Client, params: { serverId: string }, wait: number): Promise<Ended> => {
  const { id } = await client.call('POST /servers/{serverId}/commands', { params, body: { type: 'self-test' } })
  const ended = await waitForCommand(client, id, wait)
  if (ended.status === 'pending' || ended.status === 'running')
    throw new Failure(`The host has not answered within ${wait} s. The test goes on: stockade command ${id}`)
  return ended
}

const printSelfTest = (ended: Ended): void => {
  const told = readResult(ended.result?.output ?? '')
  const away = Date.parse(ended.started_at ?? ended.created_at) - Date.parse(ended.created_at)
  const rows = told?.steps.map(({ step, family, ok, ms, text }) => [
    `IPv${family} ${step}`,
    ok === null ? 'not tried' : ok ? 'ok' : 'FAILED',
    `${ms} ms`,
    safe(text),
  ])
  if (!told || !rows) return print(safe(ended.result?.output ?? `The test ended as ${ended.status}.`))
  printTable(
    ['STEP', 'RESULT', 'TIME', 'DETAIL'],
    [['server to host', 'ok', `${away} ms`, 'the host took the command'], ...rows],
  )
  print(sentences[told.result])
}

/** Null where the host answered with a sentence instead. */
const readResult = (output: string): SelfTestResult | null => {
  try {
    const value = JSON.parse(output) as SelfTestResult
    return Object.hasOwn(sentences, value.result) && Array.isArray(value.steps) ? value : null
  } catch {
    return null
  }
}
