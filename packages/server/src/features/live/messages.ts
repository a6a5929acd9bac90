import { eventKinds } from '@stockade/contract'
import type { LiveMessage } from '@stockade/contract'
import { isOneOf } from '@stockade/contract/untrusted.ts'
import { iso, isoOrNull } from '../../core/clock.ts'
import type { StockadeEvent } from '../../events/events.ts'
import type { BansService } from '../bans/bans.service.ts'
import type { CommandsService } from '../commands/commands.service.ts'
import type { FleetBans } from '../fleet/fleet.service.ts'
import { levelOf } from '../servers/protection.ts'
import type { Registry } from '../servers/registry.ts'
import { tagsOf } from '../servers/tags.store.ts'
import type { Targets } from '../servers/targets.ts'
import { blocklistMessage, fleetBanIds, fleetMessage } from './fleet-messages.ts'
import type { Numbered } from './recent.ts'

/** A message with who may hear it. */
export interface Told {
  readonly number: number
  readonly serverNo: number | null
  readonly text: string
  /** Of a fleet ban: the servers that it concerns, and what those hear who see some servers only. */
  readonly fleet?: { readonly reach: Targets; readonly restricted: string }
}
/** Who sees some servers only hears that some list changed, and not which. */
const toldOfBlocklist = (number: number, event: StockadeEvent): Told => ({
  number,
  serverNo: null,
  text: JSON.stringify(blocklistMessage(event, true)),
  fleet: { reach: 'all', restricted: JSON.stringify(blocklistMessage(event, false)) },
})
const noticeOf = ({ name, data }: StockadeEvent): string => {
  const hostname = String(data.hostname)
  if (name === 'server.clone') return `Two servers report with the identity of ${hostname}.`
  if (name === 'backup.fail') return 'The scheduled backup failed.'
  if (name === 'backup.verify_fail') return 'A scheduled backup could not be restored.'
  return name === 'server.quota' ? `${hostname} has used up what it may report today.` : name
}

/** Turns events into messages of the live feed. */
export const createLiveMessages = (needs: {
  registry: Pick<Registry, 'byNo'>
  bans: Pick<BansService, 'viewsOf'>
  commands: Pick<CommandsService, 'viewsOf'>
  fleetBans: Pick<FleetBans, 'live'>
}): ((numbered: readonly Numbered[]) => Promise<Told[]>) => {
  const { registry, bans, commands, fleetBans } = needs

  const serverMessage = (event: StockadeEvent): LiveMessage => {
    const server = event.serverNo === null ? undefined : registry.byNo(event.serverNo)
    const { id = '', hostname = '' } = event.data
    return {
      type: 'server',
      at: iso(event.at),
      data: {
        id: server?.row.id ?? String(id),
        hostname: server?.row.hostname ?? String(hostname),
        status: server?.row.status ?? 'offline',
        protection: server ? levelOf(server) : 'unknown',
        last_heartbeat: isoOrNull(server?.lastHeartbeat ?? null),
        tags: server ? [...tagsOf(server.row)] : [],
        deleted: event.name === 'server.delete',
      },
    }
  }
  const whitelistMessage = (event: StockadeEvent): LiveMessage => {
    const { version, sync_status } = event.data
    const server = event.serverNo === null ? undefined : registry.byNo(event.serverNo)
    return {
      type: 'whitelist',
      at: iso(event.at),
      data: {
        version: typeof version === 'string' ? version : '',
        server_id: server?.row.id ?? null,
        sync_status: isOneOf(['synced', 'pending', 'failed'], sync_status) ? sync_status : null,
      },
    }
  }
  const plainMessage = (live: LiveMessage['type'] | undefined, event: StockadeEvent): LiveMessage | null => {
    if (live === 'whitelist') return whitelistMessage(event)
    if (live !== 'notice') return null
    return { type: 'notice', at: iso(event.at), data: { level: 'warn', message: noticeOf(event) } }
  }
  /** Bodies are read once for all clients, by their ids. */
  return async (numbered: readonly Numbered[]) => {
    const events = numbered.map(({ event }) => event)
    const banIds = [...new Set(events.flatMap(event => (event.banId === null ? [] : [event.banId])))]
    const commandIds = [
      ...new Set(events.flatMap(event => (event.name.startsWith('command.') ? [String(event.data.id)] : []))),
    ]
    const banBodies = new Map((await bans.viewsOf(banIds)).map(({ serverNo: _, ...ban }) => [ban.id, ban]))
    const commandBodies = new Map((await commands.viewsOf(commandIds)).map(command => [command.id, command]))
    const fleetBanStates = await fleetBans.live(fleetBanIds(events))
    return numbered.flatMap(({ number, event }): Told[] => {
      const { live }: { live?: LiveMessage['type'] } = eventKinds[event.name]
      if (live === 'blocklist') return [toldOfBlocklist(number, event)]
      const at = iso(event.at)
      const ban = event.banId === null ? undefined : banBodies.get(event.banId)
      const command = commandBodies.get(String(event.data.id))
      const message: LiveMessage | null =
        (live === 'ban' || live === 'unban') && ban
          ? { type: live, at, data: ban }
          : live === 'command' && command
            ? { type: 'command', at, data: command }
            : live === 'server'
              ? serverMessage(event)
              : live === 'fleet_ban'
                ? fleetMessage(event, fleetBanStates, true)
                : plainMessage(live, event)
      if (!message) return []
      if (live !== 'fleet_ban') return [{ number, serverNo: event.serverNo, text: JSON.stringify(message) }]
      const reach = fleetBanStates.get(Number(event.data.id))?.reach ?? 'all'
      const restricted = JSON.stringify(fleetMessage(event, fleetBanStates, false))
      return [{ number, serverNo: null, text: JSON.stringify(message), fleet: { reach, restricted } }]
    })
  }
}
