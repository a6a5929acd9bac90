import { recordOf } from '@stockade/contract/untrusted.ts'
import type { Database } from '../../db/database.ts'
import { minute } from '../../core/clock.ts'
import { ipText } from '../../core/ip.ts'
import type { ReasonSource } from './ban-reasons.store.ts'
import { commandsOfAddresses } from './ban-reasons.store.ts'

/** The operators' own words for manual bans: those of the command that each ban answers. */
export const wordsOfManualBans =
  ({ read, engine }: Pick<Database, 'read' | 'engine'>) =>
  async (rows: readonly ReasonSource[]): Promise<ReadonlyMap<number, string>> => {
    const texts = new Map(rows.map(({ id, ip, prefix }) => [id, ipText(ip, prefix)]))
    const commands = await commandsOfAddresses(read, engine, 'ban-ip', [...new Set(texts.values())])
    const reasonById = new Map<number, string>()
    for (const { id, server_no, banned_at } of rows) {
      const command = commands.find(
        ({ ip, server_no: no, created_at }) =>
          ip === texts.get(id) && no === server_no && created_at <= banned_at + minute,
      )
      const { reason } = recordOf(command ? JSON.parse(command.params) : null)
      if (typeof reason === 'string' && reason !== '') reasonById.set(id, reason)
    }
    return reasonById
  }
