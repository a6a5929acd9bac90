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
import { changeCommand, findCommandRow } from './commands.store.ts'
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

interface Ending {
  readonly row: CommandRow
  readonly set: { readonly success: number; readonly output: string; readonly exit_code: number | null }
  readonly apply: ApplyEffect
}
const lifts = ({ effect }: { readonly effect: Effect }) => (effect.kind === 'bans-lifted' ? 0 : 1)

/** Takes in the results of commands. Results that arrive together share a transaction. */
export const createResults = (needs: { db: Database; clock: Clock; events: Events; queue: Queue }) => {
  const { db, clock, events, queue } = needs

  /** Locks commands by id first, then bans, then hosts by number: so two processes never wait for each other in a circle. */
  const end = async (change: Change, endings: readonly Ending[]): Promise<ReadonlyMap<Ending, CommandRow>> => {
    const ended = new Map<Ending, CommandRow>()
    for (const ending of endings.toSorted((a, b) => (a.row.id < b.row.id ? -1 : 1))) {
      const { row, set } = ending
      const status = set.success === 1 ? 'completed' : 'failed'
      const updated = await changeCommand(change.sql, row, { ...set, status, completed_at: clock() })
      if (updated) ended.set(ending, updated)
    }
    const effects = [...ended]
      .flatMap(([{ apply }, row]) => effectsOf(row).map(effect => ({ apply, effect })))
      .sort((a, b) => lifts(a) - lifts(b) || a.effect.serverNo - b.effect.serverNo)
    for (const { apply, effect } of effects) await apply(change, effect)
    return ended
  }
  /** Resolves to null for a command that changed since it was read. */
  const ends = createGroup(
    (endings: readonly Ending[]) =>
      events.change(async change => {
        const ended = await end(change, endings)
        await change.recordMany(
          endings
            .flatMap(ending => ended.get(ending) ?? [])
            .map(({ id, type, status, server_no }) => ({
              name: 'command.finish',
              serverNo: server_no,
              data: { id, type, status },
            })),
        )
        return endings.map(ending => ended.get(ending) ?? null)
      }),
    grouped,
  )
  /** Returns false if the result was known already. */
  const finish = async (agent: AgentActor, id: string, result: Result, apply: ApplyEffect): Promise<boolean> => {
    const row = await findCommandRow(db.read, id)
    if (!row) throw notFound(`There is no command ${id}.`)
    if (row.server_no !== agent.serverNo) throw forbidden('This command belongs to another server.')
    const set = {
      success: result.success ? 1 : 0,
      output: tame(result.output ?? '', bounds.commandOutput),
      exit_code: result.exit_code ?? null,
    }
    if (row.status === 'completed' || row.status === 'failed') {
      const isSame = row.success === set.success && row.output === set.output && row.exit_code === set.exit_code
      if (isSame) return false
      throw conflict('This command has another result already.')
    }
    if (row.status === 'pending') throw conflict('This command was never handed out.')
    // A late result of a timed-out command is recorded, because it is what happened.
    const [finished] = await ends.add([{ row, set, apply }])
    // The command was handed out once more at the same moment: try again with the new row.
    if (!finished) return finish(agent, id, result, apply)
    queue.track(finished)
    return true
  }
  return { finish }
}
