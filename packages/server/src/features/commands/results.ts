import { outcomeOfSelfTest } from '@stockade/contract/command-types/self-test.ts'
import type { LastSelfTest } from '@stockade/contract/command-types/self-test.ts'
import { bounds } from '@stockade/contract/limits.ts'
import type { AgentActor } from '../../core/actor.ts'
import { iso } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { createGroup } from '../../core/group.ts'
import { conflict, forbidden, notFound } from '../../core/problem.ts'
import { tame } from '../../core/text.ts'
import type { Database } from '../../db/database.ts'
import type { Change, Events } from '../../events/events.ts'
import { endCommands, lockCommands } from './commands.store.ts'
import type { CommandRow } from './commands.store.ts'
import { grouped } from './delivery.ts'
import { storedCommand } from './params.ts'
import type { Queue } from './queue.ts'

/** What an agent says of a command. */
export interface Result {
  readonly success: boolean
  readonly output?: string
  readonly exit_code?: number | null
}
/** What the end of a command means beyond itself. Plain data: applying it twice, in a transaction tried again, does no harm. */
export type Effect =
  | { readonly kind: 'bans-lifted'; readonly serverNo: number; readonly address: string; readonly jail: string | null }
  | { readonly kind: 'template-deployed'; readonly serverNo: number; readonly hash: string }
  | { readonly kind: 'template-removed'; readonly serverNo: number; readonly name: string }
  | { readonly kind: 'self-tested'; readonly serverNo: number; readonly test: LastSelfTest }
/** Applies an effect in the transaction of its result. */
export type ApplyEffect = (change: Change, effect: Effect) => Promise<void>

type EndedRow = Pick<
  CommandRow,
  'id' | 'type' | 'params' | 'server_no' | 'template_hash' | 'success' | 'output' | 'completed_at'
>
const effectsOf = (row: EndedRow): Effect[] => {
  const serverNo = row.server_no
  if (row.type === 'self-test') {
    const result = outcomeOfSelfTest(row.output ?? '') ?? 'untried'
    return [{ kind: 'self-tested', serverNo, test: { result, at: iso(row.completed_at ?? 0), command_id: row.id } }]
  }
  if (row.success !== 1) return []
  const command = storedCommand(row)
  switch (command.type) {
    case 'unban-ip': {
      const { ip: address, jail } = command.params
      return [{ kind: 'bans-lifted', serverNo, address, jail: jail === '*' ? null : jail }]
    }
    case 'remove-template':
      return [{ kind: 'template-removed', serverNo, name: command.params.template_name }]
    case 'deploy-template':
      return row.template_hash === null ? [] : [{ kind: 'template-deployed', serverNo, hash: row.template_hash }]
    default:
      return []
  }
}

/** A result as it came. */
interface Reported {
  readonly serverNo: number
  readonly id: string
  readonly set: { readonly success: number; readonly output: string; readonly exit_code: number | null }
  readonly apply: ApplyEffect
}
/** The command before the result, and after it where the result ended it. */
interface Outcome {
  readonly before: CommandRow | undefined
  readonly ended: CommandRow | null
}
/** A late result of a timed-out command is recorded, because it is what happened. */
const isOpen = (row: CommandRow): boolean => row.status === 'running' || row.status === 'timeout'
const lifts = ({ effect }: { readonly effect: Effect }) => (effect.kind === 'bans-lifted' ? 0 : 1)

/** Takes in the results of commands. Results that arrive together share a transaction. */
export const createResults = (needs: { db: Database; clock: Clock; events: Events; queue: Queue }) => {
  const { db, clock, events, queue } = needs

  /** Ends the commands that are open. Of two results for one, the first counts; the other one is judged with the next batch. */
  const end = async (change: Change, results: readonly Reported[]): Promise<Outcome[]> => {
    const ids = [...new Set(results.map(({ id }) => id))]
    const rows = new Map((await lockCommands(change.sql, db.engine, ids)).map(row => [row.id, row]))
    const takenIds = new Set<string>()
    const completed_at = clock()
    const outcomes = results.map(({ id, serverNo, set }) => {
      const before = rows.get(id)
      if (!before || before.server_no !== serverNo || !isOpen(before) || takenIds.has(id))
        return { before, ended: null }
      takenIds.add(id)
      const status = set.success === 1 ? ('completed' as const) : ('failed' as const)
      return { before, ended: { ...before, ...set, status, completed_at } }
    })
    const ended = outcomes.flatMap(outcome => outcome.ended ?? [])
    await endCommands(
      change.sql,
      db.engine,
      ended.map(({ id, status, success, output, exit_code }) => ({
        id,
        status,
        success,
        output,
        exit_code,
        completed_at,
      })),
    )
    return outcomes
  }
  /** Locks come by rank: commands by id, then bans, then hosts by number. */
  const applyEffects = async (change: Change, results: readonly Reported[], outcomes: readonly Outcome[]) => {
    const effects = results
      .flatMap(({ apply }, index) => {
        const row = outcomes[index]?.ended
        return row ? effectsOf(row).map(effect => ({ apply, effect })) : []
      })
      .sort((a, b) => lifts(a) - lifts(b) || a.effect.serverNo - b.effect.serverNo)
    for (const { apply, effect } of effects) await apply(change, effect)
  }
  const ends = createGroup(
    (results: readonly Reported[]) =>
      events.change(async change => {
        const outcomes = await end(change, results)
        await applyEffects(change, results, outcomes)
        await change.recordMany(
          outcomes
            .flatMap(({ ended }) => ended ?? [])
            .map(({ id, type, status, server_no }) => ({
              name: 'command.finish',
              serverNo: server_no,
              data: { id, type, status },
            })),
        )
        return outcomes
      }),
    grouped,
  )
  /** Returns false if the result was known already. */
  const finish = async (agent: AgentActor, id: string, result: Result, apply: ApplyEffect): Promise<boolean> => {
    const set = {
      success: result.success ? 1 : 0,
      output: tame(result.output ?? '', bounds.commandOutput),
      exit_code: result.exit_code ?? null,
    }
    const [{ before = undefined, ended } = { ended: null }] = await ends.add([
      { serverNo: agent.serverNo, id, set, apply },
    ])
    if (ended) {
      queue.track(ended)
      return true
    }
    if (!before) throw notFound(`There is no command ${id}.`)
    if (before.server_no !== agent.serverNo) throw forbidden('This command belongs to another server.')
    if (before.status === 'pending') throw conflict('This command was never handed out.')
    // Another result for it came at the same moment.
    if (isOpen(before)) return finish(agent, id, result, apply)
    const isSame = before.success === set.success && before.output === set.output && before.exit_code === set.exit_code
    if (isSame) return false
    throw conflict('This command has another result already.')
  }
  return { finish }
}
