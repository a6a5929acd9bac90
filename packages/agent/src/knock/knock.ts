import { createOnce } from '../log.ts'
import type { Log } from '../log.ts'
import type { NetlinkConnection } from '../netlink/connection.ts'
import type { Entry } from '../outbox.ts'
import { createSerial } from '../serial.ts'
import { errorText } from '../text.ts'
import type { Addresses } from '../whitelist/addresses.ts'
import type { KnockAcknowledgement } from '../wire.ts'
import { createEnforcer } from './enforcer.ts'
import { createKnockEvents } from './events.ts'
import { createLooks } from './look.ts'
import { withSocket } from './kernel-reader.ts'
import { createLists, lastingMembers, listNames, refillScript } from './members.ts'
import { createNft } from './nft.ts'
import { listeningPorts } from './ports.ts'
import { createSaver, createStateFile } from './state-file.ts'
import { createTable } from './table.ts'
import type { Reading } from './table.ts'
import { createKnockTime } from './time.ts'
import { createTrial } from './trial.ts'
import { createWanted } from './wanted.ts'

/** How long rules may stay in force that nobody proved to leave the way to the server open. */
const proofTimeout = 60_000

export interface KnockNeeds {
  stateDirectory: string
  serverId: string
  /** The nft program with its first arguments. */
  nft: readonly string[]
  /** The netlink socket of nftables; null: the nft program reads what addresses did. */
  connection: NetlinkConnection | null
  /** Why a port must not be closed; null when it may. `isClosed`: it is closed already. */
  whyNotClose: (port: number, isClosed: boolean) => string | null
  /** The ports that the server wants closed now. */
  onWanted: (ports: readonly number[]) => void
  /** Addresses that are never locked out; null before the first whitelist. */
  allowed: () => Addresses | null
  /** Whether the server answers a request that is made now. */
  answers: () => Promise<boolean>
  append: (entries: readonly Entry[]) => void
  /** The server's clock minus ours, milliseconds; null before it has answered. */
  clockOffset: () => number | null
  /** The report to the server has changed. */
  changed: () => void
  listening?: (protocol: 'tcp' | 'udp') => ReadonlySet<number>
  proofWithin?: number
  now: () => number
  log: Log
}

export interface Knock {
  /** Restores what was in force, before the server is asked. */
  start(): Promise<void>
  /** Whether this is the version of the last state that the server sent. */
  holds(version: string | null): boolean
  /**
   * Takes over a state of the server, requested at `askedAt` (of `even`): when this ends, rules, openings, blocks and cuts
   * are as it says, except for what `report` tells. Answers whether it differs from the last one.
   */
  take(value: unknown, version: string, askedAt: number): Promise<boolean>
  report(): KnockAcknowledgement | undefined
  /** Milliseconds of a clock that nobody sets and that survives a restart of the agent. */
  even(): number
  /** Decides again what may be in force, after a change of the host's policy. */
  judgeAgain(): Promise<void>
  /** The server has accepted these events. */
  taken(eventIds: readonly string[]): void
  /** Loads the whitelist into the rules if it has changed. */
  followWhitelist(): Promise<void>
  stop(): Promise<void>
}

/** What the agent knows of rules and members, on disk and in the kernel, and how it puts them in force. */
const createEnforcement = (needs: KnockNeeds) => {
  const { log } = needs
  const time = createKnockTime({ ...needs, steadyNow })
  const { now } = time
  const nft = withSocket(createNft(needs.nft), needs.connection)
  const file = createStateFile(needs.stateDirectory, log.warn)
  const saved = file.read()
  const lists = createLists(saved.lists, time.shiftSince(saved.clock))
  const desired = createWanted(saved)
  const inTurn = createSerial()
  const stopping = new AbortController()
  let isStarted = false

  const table = createTable({
    nft,
    allowed: needs.allowed,
    refill: sequences => refillScript(lists, sequences, now()),
    onLoaded(isEmptied) {
      if (isEmptied) events.forget()
      if (table.loaded().length === 0) file.writeRules(null)
      else for (const list of listNames) lists[list].drop(({ sequence }) => !table.isLoaded(sequence))
    },
  })
  const markUnsaved = (): void => saver.mark()
  const common = { ...needs, now, time, lists, table, nft, inTurn, steadyNow, markUnsaved, signal: stopping.signal }
  const events = createKnockEvents({ ...common, saved: saved.seen })
  const trial = createTrial({
    ...common,
    proved: saved.proved,
    timeout: needs.proofWithin ?? proofTimeout,
    onProved() {
      saver.save()
      writeRules()
    },
    onTakenBack() {
      enforcer.judge()
      saver.save()
    },
  })
  const enforcer = createEnforcer({
    ...common,
    wanted: desired.state,
    trial,
    host: { listening: needs.listening ?? listeningPorts, whyNotClose: needs.whyNotClose },
    isStarted: () => isStarted,
  })
  const saver = createSaver(now, () => {
    const savedEvents = events.save()
    const isSaved = file.write({
      version: desired.version(),
      wanted: desired.content(),
      proved: trial.proved(),
      lists: lastingMembers(lists, now()),
      clock: time.save(),
      seen: savedEvents.rows,
    })
    if (isSaved) savedEvents.kept()
    return isSaved
  })
  const writeRules = (): void => {
    if (trial.proved().length > 0) file.writeRules(table.text(trial.proved()))
  }
  const markStarted = (): void => {
    isStarted = true
  }
  return { ...common, wanted: desired, stopping, events, trial, enforcer, saver, writeRules, markStarted }
}

/**
 * Keeps knock sequences in force with nftables: rules, openings, blocks and cuts; reports what addresses did as events.
 * New rules are on trial until the server has answered with them in place; otherwise the previous rules return.
 */
export const createKnock = (needs: KnockNeeds): Knock => {
  const { log } = needs
  const enforcement = createEnforcement(needs)
  const { now, nft, lists, table, inTurn, stopping, wanted, events, trial, enforcer, saver } = enforcement
  /** A long allow list takes its time, and nobody who waits for a port should wait for it. */
  const allowInTurn = createSerial()
  const lookTrouble = createOnce(log.warn)

  /** Answers whether there was news. */
  const digest = (reading: Reading, readAt: number): boolean => {
    const { hasNews, hasOpened } = events.digest(reading.seen, readAt)
    if (!table.hasAllowed()) void followWhitelist()
    if (looks.isCleanupDue()) for (const list of listNames) lists[list].drop(({ until }) => until <= now())
    saver.saveIfDue(hasOpened)
    return hasNews
  }

  const followWhitelist = (): Promise<void> =>
    allowInTurn(async () => {
      if (table.hasAllowed()) return
      try {
        await table.loadAllowed()
        enforcement.writeRules()
      } catch (error) {
        lookTrouble.tell(`port knocking: the whitelist is not in its rules yet: ${errorText(error)}`)
      }
    })

  const report = (): KnockAcknowledgement | undefined => (wanted.isKnown() ? enforcer.report() : undefined)

  const enforceRules = async (): Promise<void> => {
    await enforcer.rules()
    looks.quicken()
    looks.schedule()
  }

  const tryAgain = async (): Promise<void> => {
    const before = JSON.stringify(report())
    await enforceRules()
    // Before the server has answered, nobody knows what its times mean here: the lists of the last run hold.
    if (needs.clockOffset() !== null) await enforcer.lists(0)
    if (JSON.stringify(report()) !== before) needs.changed()
  }

  const looks = createLooks({ ...enforcement, onReading: digest, retry: tryAgain, trouble: lookTrouble })

  const restoreProved = async (): Promise<void> => {
    if (trial.proved().length === 0) return
    try {
      const wasPresent = (await nft.present()) !== null
      await table.load(trial.proved())
      if (!wasPresent) return
      const readAt = now()
      const reading = await table.read(false)
      if (reading) digest(reading, readAt)
      await events.findMembers()
    } catch (error) {
      log.warn(`port knocking: the rules of the last run are not in force: ${errorText(error)}`)
    }
  }

  const take = async (value: unknown, newVersion: string, askedAt: number): Promise<boolean> => {
    const isFirst = !wanted.isKnown()
    const isNew = wanted.take(value, newVersion)
    // The server repeats a state to have it tried again.
    if (!isNew) trial.forgive()
    const { sequences, faults } = wanted.state()
    needs.onWanted(sequences.map(({ protectedPort }) => protectedPort))
    if (isFirst && sequences.length === 0 && faults.length === 0) {
      // A table may be left from an earlier installation.
      await nft.remove().catch(() => undefined)
    } else {
      await enforceRules()
      await enforcer.lists(askedAt)
    }
    enforcement.markStarted()
    saver.mark()
    // Somebody waits for a port, so the disk comes later. After a crash before that, the agent requests the state again.
    setImmediate(() => void inTurn(async () => (stopping.signal.aborted ? undefined : saver.saveIfChanged())))
    return isNew
  }

  return {
    start: () =>
      inTurn(async () => {
        if (!wanted.isKnown()) return
        await restoreProved()
        await enforceRules()
        enforcement.markStarted()
        saver.save()
      }),
    holds: asked => asked !== null && asked === wanted.version(),
    take: (value, newVersion, askedAt) => inTurn(() => take(value, newVersion, askedAt)),
    report,
    even: steadyNow,
    judgeAgain: () => inTurn(() => (wanted.isKnown() ? tryAgain() : Promise.resolve())),
    taken(eventIds) {
      const ids = new Set(eventIds)
      for (const list of ['open', 'block'] as const) lists[list].taken(ids, steadyNow())
      saver.mark()
    },
    followWhitelist,
    async stop() {
      stopping.abort()
      looks.stop()
      await inTurn(async () => {
        await trial.abandon()
        saver.saveIfChanged()
      })
    },
  }
}

const steadyNow = (): number => Number(process.hrtime.bigint() / 1_000_000n)
