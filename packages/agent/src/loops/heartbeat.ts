import { randomUUID } from 'node:crypto'
import { bounds } from '@stockade/contract/limits.ts'
import type { LogPlaces } from '../bans/log-places.ts'
import { otherIdsOf } from '../bans/other-ids.ts'
import type { OtherIds } from '../bans/other-ids.ts'
import type { EngineConfig } from '../engine/config.ts'
import type { Engine, JailCounts } from '../engine/engine.ts'
import type { PolicyState } from '../policy/policy.ts'
import type { Metrics } from '../metrics.ts'
import type { ProtectionReport } from '../protection/model.ts'
import type { SealReport } from '../seal/gate.ts'
import { untilSlot } from '../schedule.ts'
import type { Drops } from '../shield/drops.ts'
import type { Lists } from '../shield/lists.ts'
import type { ShieldReport } from '../shield/shield.ts'
import type { UpgradeReport } from '../upgrade/upgrades.ts'
import { deployedTemplates } from '../templates/files.ts'
import { ServerError } from '../transport.ts'
import { cleanText, errorText } from '../text.ts'
import type { Log } from '../log.ts'
import type { Command, Heartbeat, JailDetail, ReportVersion, Wire } from '../wire.ts'
import type { Line } from './line.ts'
import { createLoop } from './loop.ts'
import type { Loop, LoopNeeds } from './loop.ts'

const conflictWait = 300_000
const jailsEvery = 3_600_000
const maxJails = 1000
/** fail2ban's list of bans may be so old, in milliseconds. */
const listAge = 15_000
const noCounts = { current_bans: 0, other_ids: null, total_banned: 0, current_failed: 0, total_failed: 0 }

/** Reports that this host is alive, once in each interval at its own offset, and receives commands. */
export const createHeartbeat = (
  needs: LoopNeeds & {
    wire: Wire
    line: Pick<Line, 'due' | 'heartbeat'>
    engine: Engine
    config: EngineConfig
    places: LogPlaces
    serverId: string
    about: { hostname: () => string; os: string; agentVersion: string; agentId: string; machine: string | null }
    nftables: () => Promise<boolean>
    shield: () => ShieldReport
    drops: Pick<Drops, 'changed' | 'told'>
    lists: Pick<Lists, 'changed' | 'told'>
    sealed: () => SealReport | null
    upgrades: () => UpgradeReport
    metrics: () => Metrics
    policy: () => PolicyState
    protection: () => ProtectionReport | null
    onCommands: (commands: readonly Command[]) => void
    onState: (version: string | null) => void
    /** The server has answered. */
    onAnswer: () => void
    now: () => number
    log: Log
  },
): Loop & { interval: () => number } => {
  let interval = 30
  let toldJails = ''
  let toldAt = 0
  const boot = randomUUID()
  let reports = 0
  /** Lets the server ignore a report that arrives after a later one. */
  const nextReport = (): ReportVersion => ({ boot, number: ++reports })

  const beat = async (): Promise<void> => {
    const jails = await jailsNow(needs).catch(() => [])
    const drops = needs.drops.changed()
    const listed = needs.lists.changed()
    const heartbeat: Heartbeat = {
      hostname: needs.about.hostname(),
      os: needs.about.os,
      engine_version: needs.engine.version() ?? '',
      agent_version: needs.about.agentVersion,
      agent_id: needs.about.agentId,
      machine: needs.about.machine,
      capabilities: { nftables: await needs.nftables(), shield: needs.shield() },
      metrics: needs.metrics(),
      jails: jails.map(({ name, enabled, current_bans, total_banned, current_failed, total_failed, other_ids }) => ({
        name,
        enabled,
        current_bans,
        total_banned,
        current_failed,
        total_failed,
        ...(other_ids === null ? {} : { other_ids }),
      })),
      policy: needs.policy(),
      protection: needs.protection(),
      sealed: needs.sealed(),
      upgrades: needs.upgrades(),
      report: nextReport(),
      ...(drops.length === 0 ? {} : { dropped: drops.map(({ entry, packets }) => ({ ip: entry, packets })) }),
      ...(listed.length === 0 ? {} : { listed }),
    }
    const answer = await needs.line.heartbeat(() => needs.wire.heartbeat(heartbeat, needs.signal))
    needs.drops.told(drops)
    needs.lists.told(listed)
    interval = answer.interval
    needs.link.good('heartbeat')
    needs.onAnswer()
    needs.onCommands(answer.commands)
    needs.onState(answer.stateVersion)
    await tellJails(jails).catch((error: unknown) => needs.log.debug(`the jails were not taken: ${errorText(error)}`))
  }

  /** Details change rarely: they are sent when anything but the counts changed, and hourly. */
  const tellJails = async (jails: readonly JailDetail[]): Promise<void> => {
    if (needs.engine.version() === null) {
      // The heartbeat has just reported no jails. Their details are sent again when they are back.
      toldJails = ''
      return
    }
    const shape = JSON.stringify(jails.map(jail => ({ ...jail, ...noCounts })))
    if (shape === toldJails && needs.now() - toldAt < jailsEvery) return
    await needs.wire.jails(jails, nextReport())
    toldJails = shape
    toldAt = needs.now()
  }

  const loop = createLoop({
    ...needs,
    speaker: 'heartbeat',
    async turn() {
      await beat()
      const wait = untilSlot(needs.serverId, interval * 1000, needs.now())
      needs.line.due(wait)
      return wait
    },
    onFailure(error) {
      needs.link.bad(error, 'heartbeat')
      return error instanceof ServerError && error.status === 409 ? conflictWait : undefined
    },
    firstWait: () => interval * 1000,
  })
  return { ...loop, interval: () => interval }
}

const otherIdsNow = async ({ engine, places }: { engine: Engine; places: LogPlaces }) => {
  const banned = await engine.banned(listAge)
  const otherIds = otherIdsOf(banned, () => false)
  await places.learnAll(otherIds.keys())
  return otherIdsOf(banned, places.tells)
}
/** fail2ban counts whatever a jail bans. */
const withoutOthers = (counts: JailCounts, other_ids: OtherIds | null) => ({
  ...counts,
  current_bans: Math.max(0, counts.current_bans - (other_ids?.count ?? 0)),
  other_ids,
})

/** Every configured jail and every running one. */
const jailsNow = async (needs: { engine: Engine; config: EngineConfig; places: LogPlaces }): Promise<JailDetail[]> => {
  const { engine, config } = needs
  const running = await engine.jails()
  const otherIds = await otherIdsNow(needs).catch(() => new Map<string, OtherIds>())
  const configured = await config.jails().catch(() => [])
  const templates = deployedTemplates(config.directory)
  const details: Omit<JailDetail, 'template'>[] = []
  for (const name of running) {
    const settings = configured.find(jail => jail.name === name)
    const files = await engine.logpath(name).catch(() => [])
    details.push({
      name,
      enabled: true,
      ...withoutOthers(await engine.counts(name), otherIds.get(name) ?? null),
      filter: settings?.filter ?? '',
      logpath: files.length > 0 ? files.join('\n') : (settings?.logpath ?? ''),
      ...(await engine.thresholds(name)),
    })
  }
  for (const jail of configured)
    if (!running.includes(jail.name)) details.push({ ...jail, enabled: false, ...noCounts })
  // One invalid name must not make the server refuse the whole heartbeat.
  return details
    .filter(({ name }) => name.length > 0 && name.length <= bounds.jail)
    .slice(0, maxJails)
    .map(jail => ({
      ...jail,
      template: templates.has(jail.name) ? jail.name : null,
      filter: cleanText(jail.filter).slice(0, 256),
      logpath: cleanText(jail.logpath).slice(0, 4096),
    }))
}
