import { join } from 'node:path'
import { steadyNow } from '../clock.ts'
import type { Engine } from '../engine/engine.ts'
import type { Places } from '../engine/places.ts'
import type { Log } from '../log.ts'
import type { Options } from '../options.ts'
import type { Entry } from '../outbox.ts'
import type { PolicyOfHost } from '../policy/policy.ts'
import type { Interpreter } from '../python/interpreter.ts'
import { action, reader } from '../python/programs.ts'
import type { Transport } from '../transport.ts'
import { createAdoption } from './adoption.ts'
import { createHook, hookFiles } from './hook.ts'
import type { Hook } from './hook.ts'
import { createLedger } from './ledger.ts'
import type { openMemory } from './memory.ts'
import { createLengths } from './lengths.ts'
import { createLogPlaces } from './log-places.ts'
import { createOverrides } from './overrides.ts'
import { createSnapshot } from './snapshot.ts'
import { createSpool } from './spool.ts'
import { readTable } from './table.ts'
import type { ReadRows } from './table.ts'
import { createTail } from './tail.ts'
import { createWishes } from './wishes.ts'

/** Milliseconds. The list of a host with many bans costs fail2ban time. */
const returnWait = 1000

const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))

interface HostBansNeeds {
  serverId: string
  engine: Engine
  python: Interpreter
  saved: ReturnType<typeof openMemory>
  append: (entries: readonly Entry[]) => void
  transport: Pick<Transport, 'clockOffset'>
  policy: Pick<PolicyOfHost, 'allowsLog'>
  enginePlaces: Places
  options: Options
  isShielded: (jail: string, ip: string) => boolean
  isOfFleet: (jail: string, ip: string) => boolean
  /** A ban was noticed. `hasActed`: its firewall actions have run. */
  onBan: (jail: string, ip: string, hasActed: boolean) => void
  now: () => number
  log: Log
}

/** All that follows fail2ban's bans: from its table, its actions and its own list to the reports for the server. */
export const createHostBans = (needs: HostBansNeeds) => {
  const { engine, saved, options, isShielded, now, log } = needs
  const { memory, save } = saved
  const read: ReadRows = (...what) => readTable(needs.python, reader, ...what)
  const places = createLogPlaces({ engine, allows: needs.policy.allowsLog, places: needs.enginePlaces, now })
  const onJails = places.learnAll
  const ledger = createHostLedger(needs, places.tells)
  const isFirstRun = !memory.started && !options.backfill
  const tail = createTail({ read, ledger, onJails, memory, saved, backfill: options.backfill, log })
  const { drain, hasTable } = tail
  const overrides = createOverrides({ engine, ledger, memory, save, drain, now, steadyNow, log })
  const { renew } = overrides
  const snapshot = createSnapshot({ engine, ledger, drain, hasTable, renew, isShielded, now, steadyNow, log })
  const lengths = createLengths({ engine, ledger, drain, log })
  const adoption = createAdoption({ engine, ledger, drain, read, isFirstRun, now, log })
  const file = join(options.state, 'wishes.json')
  const wishes = createWishes({ file, engine, ledger, overrides, drain, pause, now, log })
  const hook = createHook({
    engine,
    files: hookFiles(options, needs.enginePlaces),
    source: action,
    onLost: snapshot.unsettled,
    log,
  })

  const spool = createHostSpool(needs, { ledger, drain, hasTable, renew, onJails, snapshot, adoption, hook })

  /** Compares with fail2ban's own list. */
  const compare = async (): Promise<void> => {
    await wishes.run()
    await snapshot.run()
    await adoption.run()
  }

  return { ledger, places, tail, overrides, lengths, snapshot, adoption, wishes, spool, hook, compare }
}

const createHostLedger = (needs: HostBansNeeds, tellsLines: (jail: string) => boolean) =>
  createLedger({
    serverId: needs.serverId,
    memory: needs.saved.memory,
    append: needs.append,
    changed: needs.saved.changed,
    clockOffset: needs.transport.clockOffset,
    tellsLines,
    now: needs.now,
    warn: needs.log.warn,
    isShielded: needs.isShielded,
    isOfFleet: needs.isOfFleet,
    onBan: (jail, ip) => needs.onBan(jail, ip, false),
  })

interface SpoolNeeds extends Pick<
  Parameters<typeof createSpool>[0],
  'ledger' | 'drain' | 'hasTable' | 'renew' | 'onJails'
> {
  readonly snapshot: ReturnType<typeof createSnapshot>
  readonly adoption: ReturnType<typeof createAdoption>
  readonly hook: Pick<Hook, 'suspect'>
}
const createHostSpool = (needs: HostBansNeeds, { snapshot, adoption, hook, ...parts }: SpoolNeeds) => {
  let returnTimer: NodeJS.Timeout | null = null
  const { spool: path, isShared } = hookFiles(needs.options, needs.enginePlaces)
  return createSpool({
    ...parts,
    ...{ path, isShared },
    memory: needs.saved.memory,
    changed: needs.saved.changed,
    onFlush: snapshot.flushed,
    onStop() {
      snapshot.unsettled()
      hook.suspect()
    },
    /** One look for many bans that return. */
    onReturn() {
      returnTimer ??= setTimeout(() => {
        returnTimer = null
        void adoption.runAnew()
      }, returnWait).unref()
    },
    onActed: (jail, ip) => needs.onBan(jail, ip, true),
    log: needs.log,
  })
}
