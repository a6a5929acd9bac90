import { isWide } from '@stockade/contract/seal.ts'
import { times } from '@stockade/contract'
import type { ReplyOf, bans as contract } from '@stockade/contract'
import { authorOf } from '../../core/author.ts'
import type { Principal } from '../../core/actor.ts'
import { parseRange } from '../../core/ip.ts'
import { requireProof } from '../../core/proof.ts'
import type { Change } from '../../events/events.ts'
import { checkParams } from '../commands/params.ts'
import type { Params } from '../commands/params.ts'
import type { CommandsService } from '../commands/commands.service.ts'
import type { ServersService } from '../servers/servers.service.ts'
import { createBanReading } from './ban-reading.ts'
import type { BanReading } from './ban-reading.ts'
import { createBanReports } from './ban-reports.ts'
import type { BanReportNeeds, BanReports } from './ban-reports.ts'
import { endActive } from './bans.store.ts'

export interface BansService extends Omit<BanReading, 'viewOf'>, BanReports {
  ban(actor: Principal, serverId: string, input: Params): Promise<ReplyOf<typeof contract.createBan>>
  lift(
    actor: Principal,
    serverId: string,
    ip: string,
    jail: string | undefined,
  ): Promise<ReplyOf<typeof contract.removeBan>>
  /** A host has lifted the bans of an address. */
  lifted(change: Change, serverNo: number, ip: string, jail: string | null): Promise<void>
  /** Ends the bans whose time is up. */
  expire(): Promise<void>
}

export const createBans = (
  needs: BanReportNeeds &
    Parameters<typeof createBanReading>[0] & {
      servers: Pick<ServersService, 'get'>
      commands: Pick<CommandsService, 'queue'>
      guardBan: (actor: Principal, params: Params) => void
    },
): BansService => {
  const { clock, events, servers, commands } = needs
  const { viewOf, ...reading } = createBanReading(needs)

  return {
    ...reading,
    ...createBanReports({ ...needs, reading: { viewOf } }),
    async ban(actor, serverId, input) {
      const params = checkParams('ban-ip', { jail: 'stockade', ...input })
      const { row: server } = servers.get(actor, serverId)
      needs.guardBan(actor, params)
      if (isWide(params.ip)) requireProof(actor)
      const whole = params.jail === 'stockade' ? { duration: times.defaultBan, ...params } : params
      const queued = await commands.queue(authorOf(actor), server.no, 'ban-ip', whole, 'ban.create')
      return { message: `The ban of ${String(params.ip)} is queued for ${server.hostname}.`, command_id: queued.id }
    },
    async lift(actor, serverId, ip, jail) {
      const params = checkParams('unban-ip', { ip, jail: jail ?? '*' })
      const { row: server } = servers.get(actor, serverId)
      const queued = await commands.queue(authorOf(actor), server.no, 'unban-ip', params, 'ban.remove')
      return {
        message: `Lifting the ban of ${String(params.ip)} is queued for ${server.hostname}.`,
        command_id: queued.id,
      }
    },
    async lifted(change, serverNo, ip, jail) {
      const range = parseRange(ip)
      if (range) await endActive(change, { serverNo, ip: range, jail }, clock())
    },
    async expire() {
      for (;;) {
        const now = clock()
        const ended = await events.change(change => endActive(change, { expiredBy: now, most: 200 }, now))
        if (ended.length < 200) return
      }
    },
  }
}
