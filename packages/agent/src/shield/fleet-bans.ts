import type { Log } from '../log.ts'
import { createOnce } from '../log.ts'
import { createSerial } from '../serial.ts'
import { errorText } from '../text.ts'
import type { Wire } from '../wire.ts'
import { fetchFleet } from './fleet-fetch.ts'
import type { FleetJail } from './fleet-jail.ts'
import { createJudge, maxReason, trialFailed, untried } from './fleet-judge.ts'
import type { JudgeNeeds } from './fleet-judge.ts'
import { digestOf, endsOf } from './fleet-store.ts'
import type { FleetReport } from './fleet-report.ts'
import type { FleetBan, FleetState, FleetStore } from './fleet-store.ts'
import type { Shield } from './model.ts'
import { coversEntry } from './table.ts'
import { reachesServer } from './trial.ts'

const maxWhy = 500

const onTrial = 'it is on trial'
/** What the desired state says of fleet bans. */
interface DesiredBans {
  readonly version: number
  readonly digest: string
}

export interface FleetBans {
  /**
   * Fetches what differs from the desired state and brings it into the kernel. Answers whether there was anything new.
   * @throws ServerError if the server does not give it; Error if what it gives makes no sense
   */
  take(desired: DesiredBans | null): Promise<boolean>
  /** Null while no server ever spoke of fleet bans. */
  report(): Promise<FleetReport | null>
  version(): number
  /** Decides again which entries this host refuses, after a change of the whitelist or of the host's addresses. */
  judgeAgain(): Promise<void>
  /** Whether an entry was refused or could not be banned, so that it is worth to judge again. */
  isUnsettled(): boolean
  /** Lifts the entries that cover an address, on this host only. Answers them. */
  release(ip: string): Promise<string[]>
  /** The fleet bans that hold exactly this entry, or cover it. */
  covering(entry: string): readonly FleetBan[]
}

interface FleetNeeds extends JudgeNeeds {
  store: FleetStore
  shield: Pick<Shield, 'isOn' | 'report' | 'follow' | 'endsInKernel'>
  /** Holds the bans while the host has no shield. */
  jail: Pick<FleetJail, 'isUsed' | 'refusals' | 'follow' | 'held'>
  wire: Pick<Wire, 'fleetBans' | 'answers'>
  /** What is reported has changed without a new state. */
  onHeld: () => void
  steadyNow: () => number
  log: Log
}

export const createFleetBans = (needs: FleetNeeds): FleetBans => {
  const { store, shield, jail, wire, log } = needs
  const trouble = createOnce(log.warn)
  const inTurn = createSerial()
  let isKnown = store.state().version > 0
  let failure: string | null = null
  /** Entries that the kernel may hold in an older form, after a failure. */
  const unsure = new Set<string>()
  const judged = createJudge(needs)
  const judge = (
    bans: ReadonlyMap<number, FleetBan>,
    state: Pick<FleetState, 'released' | 'refused'>,
  ): Map<string, string> => judged(bans, state, entry => store.wanted().has(entry))

  /** The disk first, then the kernel or fail2ban: of what differs, or after a failure of everything. */
  const bring = async (next: FleetState): Promise<void> => {
    const before = new Map(store.wanted())
    await shield.follow(() => {
      store.put(next)
      const after = store.wanted()
      return [...new Set([...before.keys(), ...after.keys(), ...unsure])].filter(
        entry => failure !== null || before.get(entry) !== after.get(entry),
      )
    })
    if (jail.isUsed()) await jail.follow()
  }

  const passTrial = async (entries: readonly string[]): Promise<boolean> => {
    await shield.follow(() => [], entries)
    return reachesServer({ answers: wire.answers, steadyNow: needs.steadyNow })
  }

  const apply = async (given: Pick<FleetState, 'version' | 'bans'>, known: FleetState): Promise<void> => {
    const entries = new Set([...given.bans.values()].map(({ entry }) => entry))
    const keep = (set: ReadonlySet<string>): Set<string> => new Set([...set].filter(entry => entries.has(entry)))
    const nextState = { ...known, ...given, released: keep(known.released), confirmed: keep(known.confirmed) }
    const refused = judge(given.bans, nextState)
    const wide = untried({ ...nextState, refused })
    const before = [...store.wanted().keys()]
    const without = (reason: string): FleetState => ({
      ...nextState,
      refused: new Map([...refused, ...wide.map(entry => [entry, reason] as const)]),
    })
    try {
      await bring(without(onTrial))
      if (wide.length > 0 && shield.isOn()) {
        const isPassed = await passTrial(wide)
        const confirmed = new Set([...nextState.confirmed, ...wide])
        await bring(isPassed ? { ...nextState, refused, confirmed } : without(trialFailed))
        if (!isPassed) await shield.follow(() => wide)
      }
      failure = null
      unsure.clear()
      trouble.over()
    } catch (error) {
      failure = errorText(error)
      for (const entry of [...before, ...store.wanted().keys()]) unsure.add(entry)
      trouble.tell(`shield: fleet bans are not in force: ${failure}`)
    }
  }

  /** What is in force. A kernel that cannot be read proves nothing, and the next judgement tries it again. */
  const readBack = async (): Promise<ReadonlyMap<string, number | null>> => {
    try {
      return await (jail.isUsed() ? jail.held() : shield.endsInKernel(store.wanted()))
    } catch (error) {
      failure = errorText(error)
      for (const entry of store.wanted().keys()) unsure.add(entry)
      trouble.tell(`shield: the fleet bans in force cannot be read: ${failure}`)
      return new Map()
    }
  }
  /** The bans that should be in force and are not, with why: else the server would wait for them for ever. */
  const missingFrom = (held: ReadonlyMap<string, number | null>, why: string): FleetReport['refused'][number][] => {
    const desiredBans = store.wanted()
    const who = jail.isUsed() ? 'fail2ban' : 'the kernel of this host'
    const reason = `${who} did not take it: ${why}`.slice(0, maxReason)
    return [...store.state().bans.values()]
      .filter(({ entry }) => desiredBans.has(entry) && !held.has(entry))
      .map(({ id }) => ({ id, reason }))
  }

  return {
    version: () => store.state().version,
    take: desired =>
      inTurn(async () => {
        if (desired === null) return false
        isKnown = true
        const { version, bans } = store.state()
        const isSame = version === desired.version
        if (isSame && (version === 0 || digestOf(endsOf(bans.values())) === desired.digest)) return false
        const reply = await fetchFleet({ store, wire }, version === 0 || isSame ? null : version)
        if (reply === null) return false
        // A trial that failed is repeated with a new set.
        await apply(reply, { ...store.state(), refused: new Map() })
        return true
      }),
    report: () =>
      inTurn(async () => {
        if (!isKnown) return null
        const { version, bans, refused } = store.state()
        const rows = [...bans.values()].flatMap(({ id, entry }) => {
          const reason = refused.get(entry)
          return reason === undefined ? [] : [{ id, reason }]
        })
        const { supported, reason } = shield.report()
        if (!shield.isOn() && !jail.isUsed()) {
          const notCovered = supported ? 'the shield is switched off on this server' : (reason ?? 'it has no shield')
          return {
            version,
            held: 0,
            digest: digestOf(new Map()),
            refused: [],
            notCovered: notCovered.slice(0, maxWhy),
            fallback: null,
          }
        }
        const heldBans = await readBack()
        const missing = failure === null ? [] : missingFrom(heldBans, failure)
        const fallback = jail.isUsed()
          ? `fail2ban holds it, since there is no shield: ${reason ?? ''}`.slice(0, maxWhy)
          : null
        return {
          version,
          held: heldBans.size,
          digest: digestOf(heldBans),
          refused: [...rows, ...missing],
          notCovered: null,
          fallback,
        }
      }),
    judgeAgain: () =>
      inTurn(async () => {
        const { version, bans, refused } = store.state()
        const next = judge(bans, store.state())
        const isSame = next.size === refused.size && [...next].every(([entry, why]) => refused.get(entry) === why)
        if (isSame && failure === null) return
        await apply({ version, bans }, store.state())
        needs.onHeld()
      }),
    isUnsettled: () => failure !== null || store.state().refused.size > 0,
    release: ip =>
      inTurn(async () => {
        const state = store.state()
        const coveringEntries = [...store.wanted().keys()].filter(entry => coversEntry(entry, ip))
        if (coveringEntries.length === 0) return []
        const released = new Set([...state.released, ...coveringEntries])
        await bring({ ...state, released, refused: judge(state.bans, { ...state, released }) })
        needs.onHeld()
        return coveringEntries
      }),
    covering: entry => {
      const { bans, refused } = store.state()
      return [...bans.values()].filter(ban => !refused.has(ban.entry) && coversEntry(ban.entry, entry))
    },
  }
}
