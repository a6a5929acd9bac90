import { recordOf } from '@stockade/contract/untrusted.ts'
import { InvalidArgumentError } from 'commander'
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
    .option('--engine', 'also let fail2ban ban the address because of a line in a log')
    .option('--ports <ports>', 'TCP ports to try, such as 22,8080, in place of those that the host chooses', portsOf)
    .option('--wait <seconds>', 'how long to wait for the host', wholeOf, 60)
    .action(async (typed: string, { wait, engine, ports }: Options, command: Command) => {
      const { client, json } = contextOf(command)
      const params = { serverId: await findServer(client, typed) }
      const testParams = { ...(engine ? { level: 'engine' as const } : {}), ...(ports ? { ports } : {}) }
      const ended = await runSelfTest(client, params, testParams, wait)
      if (json) printJson(ended)
      else printSelfTest(ended, engine === true)
      if (!ended.result?.success) throw new Failure('The self-test failed.')
    })
}

interface Options {
  readonly wait: number
  readonly engine?: true
  readonly ports?: number[]
}

const portsOf = (text: string): number[] => {
  const ports = [...new Set(text.split(',').map(port => (/^\d{1,5}$/.test(port.trim()) ? Number(port) : 0)))]
  if (ports.length > 10 || ports.some(port => port < 1 || port > 65_535))
    throw new InvalidArgumentError('Give 1 to 10 ports from 1 to 65535, separated by commas.')
  return ports
}

const runSelfTest = async (
  client: Client,
  params: { serverId: string },
  asked: { level?: 'engine'; ports?: number[] },
  wait: number,
): Promise<Ended> => {
  const body = { type: 'self-test', params: asked } as const
  const { id } = await client.call('POST /servers/{serverId}/commands', { params, body })
  const ended = await waitForCommand(client, id, wait)
  if (ended.status === 'pending' || ended.status === 'running')
    throw new Failure(`The host has not answered within ${wait} s. The test goes on: stockade command ${id}`)
  return ended
}

const printSelfTest = (ended: Ended, isEngineAsked: boolean): void => {
  const testResult = readResult(ended.result?.output ?? '')
  const away = Date.parse(ended.started_at ?? ended.created_at) - Date.parse(ended.created_at)
  const rows = testResult?.steps.map(({ step, family, ok, ms, text }) => [
    `IPv${family} ${step}`,
    ok === null ? 'not tried' : ok ? 'ok' : 'FAILED',
    `${ms} ms`,
    safe(text),
  ])
  if (!testResult || !rows) return print(safe(ended.result?.output ?? `The test ended as ${ended.status}.`))
  printTable(
    ['STEP', 'RESULT', 'TIME', 'DETAIL'],
    [['server to host', 'ok', `${away} ms`, 'the host took the command'], ...rows],
  )
  print(sentences[testResult.result])
  if (isEngineAsked && !testResult.steps.some(({ step }) => step.startsWith('engine-')))
    print('fail2ban was not tested: the agent of this host cannot do that yet.')
}

const isResult = (value: unknown): value is SelfTestResult => {
  const { result, steps } = recordOf(value)
  return typeof result === 'string' && Object.hasOwn(sentences, result) && Array.isArray(steps)
}
/** Null where the host answered with a sentence instead. */
const readResult = (output: string): SelfTestResult | null => {
  try {
    const value: unknown = JSON.parse(output)
    return isResult(value) ? value : null
  } catch {
    return null
  }
}
