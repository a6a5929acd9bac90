import { endOf } from '../bans/ledger.ts'
import type { Ledger } from '../bans/ledger.ts'
import { placeKey } from '../bans/memory.ts'
import type { Memory } from '../bans/memory.ts'
import type { Overrides } from '../bans/overrides.ts'
import type { Engine } from '../engine/engine.ts'
import { ownJail } from '../engine/own-files.ts'
import type { Intervals } from '../host.ts'
import type { Log } from '../log.ts'
import type { createFloor } from '../policy/floor.ts'
import type { PolicyOfHost } from '../policy/policy.ts'
import type { Approvals } from '../seal/approvals.ts'
import type { Wire } from '../wire.ts'
import type { Whitelist } from '../whitelist/whitelist.ts'
import { answerRequest, serveControl } from './control.ts'
import { createDrops } from './drops.ts'
import type { Drops } from './drops.ts'
import { createFleetBans } from './fleet-bans.ts'
import type { FleetBans } from './fleet-bans.ts'
import { createFleetJail } from './fleet-jail.ts'
import type { FleetJail } from './fleet-jail.ts'
import type { FleetStore } from './fleet-store.ts'
import { approvedInLists } from './list-ranges.ts'
import type { ListStore } from './list-store.ts'
import { createLists } from './lists.ts'
import type { Lists } from './lists.ts'
import type { Kernel } from './kernel.ts'
import { openShield } from './open.ts'
import type { MovedBan, Shield, ShieldBan } from './shield.ts'

const lookEvery = 500
const keptEvery = 5000
const judgeEvery = 60_000
const listsEvery = 1000
const dropsEvery = 15_000
const verifyEvery = 86_400_000

/** The shield and its connections to the other parts of the agent. */
export interface HostShield {
  readonly shield: Shield
  readonly fleet: FleetBans
  readonly drops: Drops
  readonly lists: Lists
  readonly fleetJail: Pick<FleetJail, 'holds'>
  /** Starts the shield and its looks. */
  start(intervals: Intervals): Promise<void>
  /** Takes over the bans of fail2ban's jail `stockade`, once. fail2ban answers when this is called. */
  moveOwnBans(): Promise<void>
  stop(): void
}

interface HostShieldNeeds {
  stateDirectory: string
  runDirectory: string
  kernel: Kernel
  /** The addresses from which somebody is logged in. */
  loginSources: () => readonly string[]
  whitelist: Pick<Whitelist, 'listed' | 'version' | 'covers'>
  floor: Pick<ReturnType<typeof createFloor>, 'addresses' | 'lookUpServer'>
  engine: Pick<Engine, 'ban' | 'banned' | 'unban' | 'unbanAll' | 'version'>
  ensureOwnJail: () => Promise<boolean>
  policy: Pick<PolicyOfHost, 'mark' | 'fleetBanLimits' | 'blocklistLimits'>
  /** The approvals of this host; null if it asks for none. */
  approvals: () => Pick<Approvals, 'approvedBans' | 'followBans'> | null
  ledger: Pick<Ledger, 'knows' | 'bans' | 'ended' | 'active'>
  memory: Pick<Memory, 'intents' | 'overrides'>
  overrides: Pick<Overrides, 'drop'>
  drain: () => Promise<void>
  wire: Pick<Wire, 'answers' | 'fleetBans' | 'list'>
  /** What the kernel holds of the fleet bans has changed without a new state. */
  onHeld: () => void
  /** It is time to compare the fleet bans with the server's. */
  verify: () => void
  clockOffset: () => number | null
  now: () => number
  log: Log
}

export const createHostShield = (needs: HostShieldNeeds): HostShield => {
  const { whitelist, floor, ledger, policy } = needs
  const approved = () => needs.approvals()?.approvedBans() ?? null
  const {
    shield,
    fleet: store,
    lists: listStore,
  } = openShield({
    ...needs,
    answers: needs.wire.answers,
    approvedInLists: () => approvedInLists(policy, needs.approvals()),
    kept() {
      const listed = whitelist.listed()
      return [...(listed?.singles ?? []), ...(listed?.ranges ?? []), ...floor.addresses()]
    },
    isWhitelisted: whitelist.covers,
    isReported: (entry, bannedAt) => ledger.knows(ownJail, entry, bannedAt),
    onBanned: bans => reportBans(ledger, needs.memory, bans),
    onEnded: ({ entry }, at) => ledger.ended(ownJail, entry, at),
  })

  const ending = new AbortController()
  const followApprovals = createApprovalFollower(needs, store, listStore)
  const onHeld = (): void => {
    followApprovals()
    needs.onHeld()
  }
  const rest = { ...needs, onHeld, shield, steadyNow: () => performance.now() }
  const fleetJail = createFleetJail({
    ...needs,
    store,
    shield: shield.report,
    serverNow: () => needs.now() + (needs.clockOffset() ?? 0),
  })
  const fleetBans = createFleetBans({
    ...rest,
    store,
    jail: fleetJail,
    limits: policy.fleetBanLimits,
    approved,
    isWhitelisted: whitelist.covers,
    neverBanned: floor.addresses,
  })
  const fleet = thenDo(fleetBans, followApprovals)
  const lists = createLists({ ...rest, store: listStore, limits: policy.blocklistLimits, signal: ending.signal })

  const drops = createDrops(shield)
  const followKept = createKeptFollower(needs, { shield, fleet, lists })
  let seenRepairs = 0
  let wasOn = false
  /** After a repair, and when somebody switches the shield off or on, the server hears what the kernel holds now. */
  const followRepairs = (): Promise<void> => {
    const { repairs, isWhole } = shield.health()
    const isOn = shield.isOn()
    if ((isWhole && repairs !== seenRepairs) || isOn !== wasOn) {
      seenRepairs = repairs
      wasOn = isOn
      if (fleet.version() > 0 || lists.isUsed()) needs.onHeld()
    }
    return Promise.resolve()
  }

  let endControl = (): void => undefined
  return {
    shield,
    fleet,
    drops,
    lists,
    fleetJail,
    async start(intervals) {
      await shield.start()
      if (ending.signal.aborted) return
      wasOn = shield.isOn()
      fleetJail.open()
      lookAtTimes(intervals, { shield, fleet, lists, drops, followKept, followRepairs, verify: needs.verify })
      intervals.every(1000, async () => {
        if (await fleetJail.follow(true).catch(() => false)) needs.onHeld()
      })
      endControl = serveControl(
        needs.runDirectory,
        request => answerRequest(shield, request, needs.now, fleet),
        needs.log.warn,
      )
    },
    moveOwnBans: () => moveOwnBans({ ...needs, shield }),
    stop() {
      endControl()
      ending.abort()
      shield.stop()
    },
  }
}

/** An approval ends with the wish for its range. */
const createApprovalFollower =
  ({ approvals }: Pick<HostShieldNeeds, 'approvals'>, fleet: FleetStore, lists: ListStore) =>
  (): void =>
    approvals()?.followBans([
      ...[...fleet.state().bans.values()].map(({ entry }) => entry),
      ...lists.lists().flatMap(list => list.approved),
    ])

/** The fleet bans, with what follows each set of them that was taken. */
const thenDo = (fleetBans: FleetBans, followSet: () => void): FleetBans => ({
  ...fleetBans,
  async take(desired) {
    const isNews = await fleetBans.take(desired)
    followSet()
    return isNews
  },
})

/** Follows what must never be dropped, and what the owner and operators of this host allow. */
const createKeptFollower = (
  { whitelist, floor, policy, approvals }: Pick<HostShieldNeeds, 'whitelist' | 'floor' | 'policy' | 'approvals'>,
  { shield, fleet, lists }: Pick<HostShield, 'shield' | 'fleet' | 'lists'>,
): (() => Promise<void>) => {
  let keptMark = ''
  let allowedMark = ''
  return async () => {
    await floor.lookUpServer()
    const keptAddresses = `${whitelist.version()} ${floor.addresses().join(' ')}`
    const allowed = `${policy.mark()} ${[...(approvals()?.approvedBans() ?? ['all'])].join(' ')}`
    const isKept = keptAddresses === keptMark
    const isAllowed = allowed === allowedMark
    if (isKept && isAllowed) return
    keptMark = keptAddresses
    allowedMark = allowed
    if (!isKept) await shield.followKept()
    if (!isAllowed) lists.judgeAgain()
    await fleet.judgeAgain()
  }
}

/** Everything of the shield that is done at intervals. */
const lookAtTimes = (
  intervals: Intervals,
  parts: Pick<HostShield, 'shield' | 'fleet' | 'lists' | 'drops'> & {
    followKept: () => Promise<void>
    followRepairs: () => Promise<void>
    verify: () => void
  },
): void => {
  const { shield, fleet, lists, drops, followKept, followRepairs, verify } = parts
  intervals.every(lookEvery, shield.look)
  intervals.every(1000, shield.tick)
  intervals.every(keptEvery, followKept)
  intervals.every(1000, followRepairs)
  intervals.every(dropsEvery, async () => {
    await lists.count()
    await drops.look()
  })
  intervals.every(listsEvery, lists.tick)
  intervals.every(judgeEvery, async () => {
    if (fleet.isUnsettled()) await fleet.judgeAgain()
  })
  intervals.every(verifyEvery, () => {
    verify()
    return Promise.resolve()
  })
}

/** Reports bans of the shield. The event id of each is always the same, so a repetition is no second ban. */
const reportBans = (
  ledger: Pick<Ledger, 'knows' | 'bans'>,
  memory: Pick<Memory, 'intents'>,
  bans: readonly ShieldBan[],
): void => {
  const unreported = bans.filter(({ entry, bannedAt }) => !ledger.knows(ownJail, entry, bannedAt))
  for (const { entry, duration, commandId } of unreported)
    memory.intents.set(placeKey(ownJail, entry), { jail: ownJail, ip: entry, since: 0, commandId, duration })
  ledger.bans(
    unreported.map(({ entry, bannedAt, duration }) => ({
      jail: ownJail,
      ip: entry,
      time: bannedAt,
      bantime: duration,
      failures: 0,
      logLines: '',
    })),
  )
}

/**
 * Moves the bans of fail2ban's jail `stockade` into the shield, once. fail2ban lifts its own only after the kernel holds
 * them, so there is no moment without a ban; the server is not told, because the bans go on.
 */
const moveOwnBans = async (needs: {
  shield: Shield
  engine: Pick<Engine, 'banned' | 'unbanAll'>
  ledger: Pick<Ledger, 'active'>
  memory: Pick<Memory, 'overrides'>
  overrides: Pick<Overrides, 'drop'>
  drain: () => Promise<void>
  log: Log
}): Promise<void> => {
  const { shield, engine, ledger, memory } = needs
  if (!shield.isOn() || shield.hasMoved()) return
  await needs.drain().catch(() => undefined)
  const banned = [...((await engine.banned()).get(ownJail) ?? [])]
  const moved = banned.flatMap((entry): MovedBan[] => {
    const ban = ledger.active(ownJail, entry)
    if (ban === null) return []
    const override = memory.overrides.get(placeKey(ownJail, entry))
    return [
      { entry, bannedAt: ban.time, duration: Math.max(-1, ban.bantime), until: override ? override.until : endOf(ban) },
    ]
  })
  await shield.adopt(moved)
  await engine.unbanAll(
    ownJail,
    moved.map(({ entry }) => entry),
  )
  for (const { entry } of moved) needs.overrides.drop(ownJail, entry)
  shield.markMoved()
  if (moved.length > 0) needs.log.info(`shield: took over ${moved.length} bans of the jail ${ownJail}`)
}
