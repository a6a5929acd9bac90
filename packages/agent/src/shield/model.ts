import type { ShieldBan } from './store.ts'
import type { TestBan } from '../self-test/self-test.ts'
import type { HeldList } from './list-store.ts'
import type { Mode } from './rules.ts'

/** Whether this host can hold bans in the kernel by itself. */
export interface ShieldReport {
  readonly supported: boolean
  /** Null where the shield is not supported. */
  readonly mode: Mode | null
  /** Whether the kernel keeps other programs from changing the table. */
  readonly owned: boolean
  readonly driver: 'netlink' | 'nft' | null
  /** Why the shield is not supported, or null. */
  readonly reason: string | null
}

export interface ShieldHealth {
  /** Whether the table in the kernel was as it should be at the last look. */
  readonly isWhole: boolean
  /** What is wrong, or null. */
  readonly detail: string | null
  /** How often the agent put the table right since it started. */
  readonly repairs: number
  /** In the host's time, epoch milliseconds. */
  readonly lastRepairAt: number | null
}

export interface BanOrder {
  readonly entry: string
  /** Seconds, -1: permanent. */
  readonly duration: number
  readonly commandId: string | null
  /** Also ends connections that are open. */
  readonly isCut: boolean
}

/** A ban that another part of the agent held until now, and that the server knows already. */
export type MovedBan = Pick<ShieldBan, 'entry' | 'bannedAt' | 'duration'> & {
  /** In the host's time, epoch milliseconds. */
  readonly until: number | null
}

export interface Shield {
  /** Puts what is on the disk into the kernel. Never throws: `report` says why it is unsupported. */
  start(): Promise<void>
  report(): ShieldReport
  health(): ShieldHealth
  isOn(): boolean
  /** Until when the shield is off, in the host's time; null: until `turnOn`; undefined: it is on. */
  offUntil(): number | null | undefined
  /** Whether the kernel drops what comes from the address, or from all of the range; read back from the kernel. */
  holds(ip: string): Promise<boolean>
  /** Answers whether the entry was banned before. On return the kernel holds the ban. @throws Error with a sentence */
  ban(order: BanOrder): Promise<boolean>
  /** Takes bans over without a report. @throws Error if the kernel does not hold all of them */
  adopt(bans: readonly MovedBan[]): Promise<void>
  hasMoved(): boolean
  markMoved(): void
  /** Answers whether exactly this entry was banned. */
  lift(entry: string): Promise<boolean>
  /** Lifts each ban that covers the entry. Answers these bans. */
  release(entry: string): Promise<string[]>
  /**
   * Brings entries of the other origin into the kernel, or out of it. `change` writes that origin's disk and answers the
   * entries whose end differs; those on trial end by themselves after a minute. @throws Error if the kernel refuses
   */
  follow(change: () => readonly string[], onTrial?: readonly string[]): Promise<void>
  /** Brings the blocklists into the kernel. `change` writes their disk. @throws Error if the kernel refuses */
  followLists(change: () => void): Promise<void>
  /** Whether the kernel holds exactly the entries of a list; read back from the kernel. */
  holdsList(list: HeldList): Promise<boolean>
  /** Packets that each list matched, by its chain, since the rules were last replaced; null if nothing counts them cheaply. */
  listed(): ReadonlyMap<string, number> | null
  /** Those of the entries that the kernel holds until their end, at least. */
  endsInKernel(wanted: ReadonlyMap<string, number | null>): Promise<Map<string, number | null>>
  bans(): readonly ShieldBan[]
  has(entry: string): boolean
  /** The widest-known ban that covers the entry, other than itself; null if there is none. */
  coveredBy(entry: string): string | null
  /** The host's whitelist or addresses changed. */
  followKept(): Promise<void>
  /** A look at the kernel, each 500 ms. */
  look(): Promise<void>
  /** Ends, slow looks and the clock, each second. */
  tick(): Promise<void>
  /**
   * Bans an entry for a test: the kernel ends the ban after a minute, and nobody is told. `stopped` reads it back.
   * @throws Error if the kernel does not hold it
   */
  readonly testBan: TestBan
  /** All packets that the shield dropped since its table was made; null where nothing counts them cheaply. */
  allDropped(): number | null
  /** What the kernel dropped of an entry's ban since the ban came into the kernel; null if that is unknown. */
  droppedFrom(entry: string): Promise<number | null>
  turnOff(until: number | null): Promise<void>
  turnOn(): Promise<void>
  stop(): void
}
