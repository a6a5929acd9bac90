import { randomBytes } from 'node:crypto'
import { steadyNow } from '../clock.ts'
import { EngineDown, sharedAge } from '../engine/engine.ts'
import type { Engine } from '../engine/engine.ts'
import { helperJail } from '../engine/own-files.ts'
import type { Pickled } from '../engine/pickle.ts'
import { asList, asText } from '../json.ts'
import { createSerial } from '../serial.ts'
import { firstBytes } from '../text.ts'
import type { Interpreter } from './interpreter.ts'

/* Programs that run in fail2ban's own container, by the action that the agent attached: same Python, same classes, same files. */

/** The action, and what fail2ban calls its files; null: it does not see them. */
export interface AttachedAction {
  readonly name: string
  readonly file: string | null
  readonly spool: string | null
}

type EngineForPrograms = Pick<
  Engine,
  'actionMethods' | 'addIdle' | 'attach' | 'callAction' | 'connectedFor' | 'dissolve' | 'jails'
>

/** Milliseconds between two looks at a program. */
const [firstLook, longestWait] = [20, 250]
/** Bytes. A hostile container may answer anything, so its answer has a bound. */
const mostOutput = 8 * 1024 * 1024

/**
 * fail2ban starts the program and waits for nothing. The output is as trustworthy as anything that fail2ban says: it is bounded in size and time,
 * and readers check its types.
 */
export const createInsideInterpreter = (needs: { engine: EngineForPrograms; action: AttachedAction }): Interpreter => {
  const { engine, action } = needs
  const inTurn = createSerial()
  let attachedJail: { readonly jail: string; readonly since: number } | null = null

  /** A jail whose action runs programs; null: there is none, or its actions are those of an older agent. */
  const jailThatRuns = async (): Promise<string | null> => {
    const since = steadyNow() - (engine.connectedFor() ?? 0)
    const jails = await engine.jails(sharedAge)
    if (attachedJail !== null && Math.abs(attachedJail.since - since) < 1000 && jails.includes(attachedJail.jail))
      return attachedJail.jail
    for (const jail of jails) {
      const methods = await engine.actionMethods(jail, action.name).catch((error: unknown) => {
        if (error instanceof EngineDown) throw error
        return [] as string[]
      })
      if (!methods.includes('begin')) continue
      attachedJail = { jail, since }
      return jail
    }
    return null
  }

  const withHelper = (work: (jail: string) => Promise<string>): Promise<string> =>
    inTurn(async () => {
      if (action.file === null || action.spool === null) throw new Error(noShare)
      await engine.dissolve(helperJail)
      await engine.addIdle(helperJail)
      try {
        await engine.attach(helperJail, action.name, action.file, { spool: action.spool })
        return await work(helperJail)
      } finally {
        await engine.dissolve(helperJail).catch(() => undefined)
      }
    })

  return {
    command: ["fail2ban's own Python, in its container"],
    async run(program, input, { timeout = 20_000, maxOutput = mostOutput } = {}) {
      const size = Math.min(maxOutput, mostOutput)
      const job = randomBytes(8).toString('hex')
      const data = JSON.stringify(input)
      const runIn = async (jail: string): Promise<string> => {
        const call = (method: string, params: Record<string, string | number>): Promise<Pickled> =>
          engine.callAction(jail, action.name, method, { job, ...params })
        const deadline = steadyNow() + timeout
        await call('begin', { program, data, seconds: Math.ceil(timeout / 1000), size })
        try {
          return await outputOf(at => call('look', { at }), size, deadline)
        } finally {
          await call('end', {}).catch(() => undefined)
        }
      }
      const jail = await jailThatRuns()
      try {
        return await (jail === null ? withHelper(runIn) : runIn(jail))
      } catch (error) {
        attachedJail = null
        throw error
      }
    },
  }
}

export const noShare = 'engine.share of agent.json names no folder that fail2ban sees'

/** @throws Error with what the program complained of, or with the bound that it met */
const outputOf = async (
  look: (at: number) => Promise<Pickled>,
  mostCharacters: number,
  deadline: number,
): Promise<string> => {
  let text = ''
  for (let wait = firstLook; ; wait = Math.min(wait * 1.5, longestWait)) {
    const [code, part, complaint] = asList(await look(text.length))
    const more = asText(part)
    text += more
    if (text.length > mostCharacters || steadyNow() > deadline) throw new Error('stopped (time or size limit)')
    if (code === 0 && more === '') return text
    if (typeof code === 'number' && more === '') {
      const last = asText(complaint).trim().split('\n').pop() ?? ''
      throw new Error(code < 0 ? 'stopped (time or size limit)' : firstBytes(last || `exit code ${code}`, 500))
    }
    await new Promise(resolve => setTimeout(resolve, more === '' ? wait : 1))
  }
}
