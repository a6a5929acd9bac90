import type { Clock } from '../../core/clock.ts'
import { jsonText } from '../../core/json-text.ts'
import type { Database } from '../../db/database.ts'
import type { Message } from '../../db/tables/message.ts'
import type { Change } from '../../events/events.ts'
import type { ChannelSettings } from './builtin.ts'
import { builtinIds } from './channel.ts'
import type { BuiltinId } from './channel.ts'
import { allChannels, waitingByQueue } from './channels.store.ts'
import { addNotifications } from './queue.store.ts'

/** Alerts that wait for one channel at most; further ones are dropped. */
const mostWaiting = 500

/** What alerts and reports send with, and what they ask of the channels. */
export const createOutbox = ({
  db,
  clock,
  settings,
}: {
  db: Pick<Database, 'read'>
  clock: Clock
  settings: ChannelSettings
}) => {
  const { site, switchRoutes, summaryChannels } = settings
  const isReady = (id: BuiltinId): boolean => settings.ready()[id]
  /** Whether each channel is on, by its id. */
  const statesOf = async (sql: Database['read']): Promise<ReadonlyMap<string, boolean>> => {
    const rows = await allChannels(sql)
    return new Map([
      ...builtinIds.map(id => [id, isReady(id)] as const),
      ...rows.map(({ id, enabled }) => [String(id), enabled === 1] as const),
    ])
  }
  return {
    site,
    switchRoutes,
    summaryChannels,
    isReady,
    /** Whether each channel that exists is on, by its id. */
    states: () => statesOf(db.read),
    /** Queues a message for channels in the transaction of the change it reports. Channels that are off or deleted are skipped. */
    async queue({ sql }: Pick<Change, 'sql'>, ids: readonly string[], message: Message): Promise<void> {
      const waiting = await waitingByQueue(sql, 'alert')
      const states = await statesOf(sql)
      const content = jsonText(message)
      for (const id of new Set(ids)) {
        const channel = id === 'chat' || id === 'email' ? id : (`channel:${Number(id)}` as const)
        if (!states.get(id) || (waiting.get(channel) ?? 0) >= mostWaiting) continue
        await addNotifications(sql, [{ channel, category: 'alert', content }], clock())
      }
    },
    /** The same for a mail to recipients of its own. What is refused of these holds up nobody else. */
    async queueMail({ sql }: Pick<Change, 'sql'>, recipients: readonly string[], message: Message): Promise<void> {
      const row = { channel: 'email', category: 'rest', content: jsonText(message) } as const
      await addNotifications(sql, [{ ...row, recipients: jsonText(recipients) }], clock())
    },
  }
}
export type Outbox = ReturnType<typeof createOutbox>
