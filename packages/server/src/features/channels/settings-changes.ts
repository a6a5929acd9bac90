import { keysOf } from '@stockade/contract/records.ts'
import type { Clock } from '../../core/clock.ts'
import type { Change } from '../../events/events.ts'
import type { createReader } from '../../events/reader.ts'
import type { Settings, SettingsWatcher } from '../settings/settings.service.ts'
import { readyChannels } from './builtin.ts'
import { builtinIds } from './channel.ts'
import type { BuiltinId } from './channel.ts'
import { forgetWaiting, freshState, saveState } from './queue.store.ts'

type Ready = Record<BuiltinId, boolean>
/** What a change of the settings means for the queue and the channels' state; in the same transaction. */
export const createChannelWatcher = ({
  clock,
  reader,
}: {
  clock: Clock
  reader: Pick<ReturnType<typeof createReader>, 'skip'>
}): SettingsWatcher => {
  const changeChannel = async (
    { sql }: Change,
    channel: BuiltinId,
    [before, after]: readonly [Settings, Settings],
    [was, is]: readonly [Ready, Ready],
  ) => {
    const names = keysOf(after).filter(name => name.startsWith(`${channel}.`))
    if (names.every(name => JSON.stringify(before[name]) === JSON.stringify(after[name]))) return
    if (!is[channel]) await forgetWaiting(sql, channel)
    // The reader's position alone is not exact: on PostgreSQL it can lie before what was committed a moment ago.
    await saveState(sql, channel, { ...freshState, ...(is[channel] && !was[channel] ? { since: clock() } : {}) })
  }
  return async (change, before, after) => {
    const [was, is] = [readyChannels(name => before[name]), readyChannels(name => after[name])]
    // Events from while every channel was off are never sent.
    if (!was.chat && !was.email && (is.chat || is.email)) await reader.skip(change)
    for (const channel of builtinIds) await changeChannel(change, channel, [before, after], [was, is])
  }
}
