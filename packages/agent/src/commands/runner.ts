import { isCommandType } from '@stockade/contract/command-types/names.ts'
import { steadyNow } from '../clock.ts'
import { EngineDown } from '../engine/engine.ts'
import type { Log } from '../log.ts'
import { commandOutput, errorText } from '../text.ts'
import type { Command, CommandResult } from '../wire.ts'
import type { Journal } from './journal.ts'
import { createLanes } from './lanes.ts'
import { laneOf, refusalText } from './handlers.ts'
import { runHandler } from './params.ts'
import type { Handlers } from './params.ts'
import { Deferred, Refused } from './refused.ts'
import type { PolicyOfHost } from '../policy/policy.ts'
import type { SealGate } from '../seal/gate.ts'

export interface Runner {
  take(commands: readonly Command[]): void
  idle(): Promise<void>
}

/** A fail2ban that is starting answers after 13 s on a slow host. One that is down is named after so long, in milliseconds. */
const enginePatience = 25_000
const engineRetry = 500

/** Tries again while fail2ban does not answer: it may be starting. Only for what can be done twice. */
const patiently = async <T>(work: () => Promise<T>): Promise<T> => {
  const deadline = steadyNow() + enginePatience
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof EngineDown) || steadyNow() > deadline) throw error
      await new Promise(resolve => setTimeout(resolve, engineRetry))
    }
  }
}
const isRepeatable = (type: string): boolean => type === 'ban-ip' || type === 'jail-status'

/** Runs each command once, however often and by whatever request it is delivered. */
export const createRunner = (needs: {
  handlers: Handlers
  journal: Journal
  seals: Pick<SealGate, 'open'>
  policy: Pick<PolicyOfHost, 'whyNotCommand' | 'countBan'>
  /** Whether bans without a jail go to the shield. */
  isShieldUsed: () => boolean
  /** A result waits to be reported: of this command, or again of an old one (null). */
  onResult: (command: Command | null, success: boolean) => void
  log: Log
}): Runner => {
  const { journal, log } = needs
  const lanes = createLanes()
  const waiting = new Set<string>()

  const carryOut = async (command: Command): Promise<void> => {
    try {
      // Written first: after a crash the journal must show that this command was started.
      await journal.started(command.id)
    } catch (error) {
      log.warn(`command ${command.id} is not begun, since the journal cannot be written: ${errorText(error)}`)
      waiting.delete(command.id)
      return
    }
    const result = await resultOf(command)
    if (result === null) {
      waiting.delete(command.id)
      return
    }
    log.info(`command ${command.type}: ${result.success ? 'done' : 'failed'}: ${result.output.split('\n')[0] ?? ''}`)
    try {
      await journal.finished(command.id, result)
    } catch (error) {
      log.warn(`the result of command ${command.id} cannot be written: ${errorText(error)}`)
    }
    waiting.delete(command.id)
    needs.onResult(command, result.success)
  }

  /** Null for a command whose result comes later. */
  const resultOf = async (command: Command): Promise<CommandResult | null> => {
    const { type } = command
    try {
      if (!isCommandType(type))
        return { success: false, output: `this agent does not know commands of type ${type}`, exit_code: 1 }
      const veto = needs.policy.whyNotCommand(type, command.params)
      if (veto !== null) return { success: false, output: veto, exit_code: 1 }
      const operator = await needs.seals.open(command).catch((error: unknown) => {
        throw new Refused(errorText(error))
      })
      if (type === 'ban-ip') {
        // Bans run side by side, so the limit is checked again where it is counted.
        const limit = needs.policy.whyNotCommand(type, command.params)
        if (limit !== null) return { success: false, output: limit, exit_code: 1 }
        needs.policy.countBan()
      }
      const handle = () => runHandler(needs.handlers, type, command.params, command.id)
      const output = await (isRepeatable(type) ? patiently(handle) : handle())
      return {
        success: true,
        output: commandOutput(operator ? `${output} (signed by ${operator})` : output),
        exit_code: 0,
      }
    } catch (error) {
      if (error instanceof Deferred) return null
      const { output, code } = refusalText(error)
      return { success: false, output: commandOutput(output), exit_code: code }
    }
  }

  return {
    take(commands: readonly Command[]): void {
      for (const command of commands) {
        if (waiting.has(command.id)) continue
        if (journal.has(command.id)) {
          journal.tellAgain(command.id)
          needs.onResult(null, false)
          continue
        }
        waiting.add(command.id)
        lanes.run(laneOf(command, needs.isShieldUsed()), () => carryOut(command))
      }
    },
    idle: (): Promise<void> => lanes.idle(),
  }
}
