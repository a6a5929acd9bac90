/**
 * The bans of a window of time, each with its address, in typed arrays: 36 bytes a ban and 24 an address. Bans of an address form a
 * chain, the last one added first. IPv4 addresses stand for themselves, IPv6 addresses for their /64.
 */
export interface BanHistory {
  /** Adds a ban that is not there yet; answers its place in the chains. */
  add(ban: PastBan): number
  /** The newest place of an address; -1: none. */
  head(key: AddressKey): number
  /** The place before, of the same address; -1: none. */
  before(place: number): number
  at(place: number): number
  id(place: number): number
  server(place: number): number
  /** Whether the ban met the filter of the rule in this place, from 0 to 63. */
  meets(place: number, rule: number): boolean
  /** Bans that were pushed out before their time, because the window has a limit. */
  readonly pushedOut: number
  readonly size: number
}
export interface PastBan {
  readonly id: number
  /** Milliseconds. */
  readonly at: number
  readonly serverNo: number
  readonly key: AddressKey
  readonly rules: RuleBits
}
/** The first 64 bits of an address; those of IPv4 begin with 32 ones, which no unicast IPv6 address has. */
export interface AddressKey {
  readonly high: number
  readonly low: number
}
export interface RuleBits {
  readonly low: number
  readonly high: number
}

export const mostRules = 64

export const keyOfAddress = (ip: Uint8Array): AddressKey =>
  ip.length === 4 ? { high: 0xffffffff, low: wordOf(ip, 0) } : { high: wordOf(ip, 0), low: wordOf(ip, 4) }
const wordOf = (bytes: Uint8Array, at: number): number =>
  (((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)) >>> 0

const first = 4096
/** Two million bans: 72 MB, and up to 100 MB for as many addresses. */
const mostBans = 2 ** 21

export const createHistory = (window: number, limit = mostBans): BanHistory => {
  let capacity = Math.min(first, limit)
  let ring = createRing(capacity)
  /** Bans that were ever added. A ban keeps its number; its slot is the remainder. */
  let added = 0
  let oldest = 0
  let newestAt = 0
  let pushedOut = 0
  let heads = createHeads(capacity * 2)

  const slot = (place: number) => place % capacity
  const isThere = (place: number) => place >= oldest && place < added
  const before = (place: number): number => {
    const previous = ring.previous[slot(place)] ?? -1
    return isThere(previous) ? previous : -1
  }
  const head = (key: AddressKey): number => {
    const place = heads.get(key)
    return isThere(place) ? place : -1
  }
  const dropEnded = () => {
    while (oldest < added && (ring.at[slot(oldest)] ?? 0) < newestAt - window) oldest++
  }
  const grow = () => {
    const larger = createRing(capacity * 2)
    for (let place = oldest; place < added; place++) copySlot(ring, slot(place), larger, place % (capacity * 2))
    capacity *= 2
    ring = larger
  }
  const makeRoom = () => {
    if (added - oldest < capacity) return
    dropEnded()
    if (added - oldest < capacity) return
    if (capacity * 2 <= limit) return grow()
    oldest++
    pushedOut++
  }
  /** Addresses whose bans are all over leave the table when it fills. */
  const tidyHeads = () => {
    if (heads.size * 2 < heads.capacity) return
    const living = createHeads(Math.max(first * 2, capacity * 2))
    heads.each((key, place) => {
      if (isThere(place)) living.set(key, place)
    })
    heads = living
  }
  /** The place of a ban that is there; -1: it is not. */
  const placeOf = (key: AddressKey, id: number): number => {
    for (let place = head(key); place >= 0; place = before(place)) if (ring.id[slot(place)] === id) return place
    return -1
  }

  return {
    add({ id, at, serverNo, key, rules }) {
      const storedPlace = placeOf(key, id)
      if (storedPlace >= 0) return storedPlace
      newestAt = Math.max(newestAt, at)
      makeRoom()
      tidyHeads()
      const place = added++
      const at_ = slot(place)
      ring.previous[at_] = head(key)
      ring.id[at_] = id
      ring.at[at_] = at
      ring.server[at_] = serverNo
      ring.rulesLow[at_] = rules.low
      ring.rulesHigh[at_] = rules.high
      heads.set(key, place)
      return place
    },
    head,
    before,
    at: place => ring.at[slot(place)] ?? 0,
    id: place => ring.id[slot(place)] ?? 0,
    server: place => ring.server[slot(place)] ?? 0,
    meets: (place, rule) =>
      (((rule < 32 ? ring.rulesLow[slot(place)] : ring.rulesHigh[slot(place)]) ?? 0) & (1 << (rule & 31))) !== 0,
    get pushedOut() {
      return pushedOut
    },
    get size() {
      return added - oldest
    },
  }
}

const createRing = (capacity: number) => ({
  id: new Float64Array(capacity),
  at: new Float64Array(capacity),
  previous: new Float64Array(capacity),
  server: new Uint32Array(capacity),
  rulesLow: new Uint32Array(capacity),
  rulesHigh: new Uint32Array(capacity),
})
type Ring = ReturnType<typeof createRing>
const copySlot = (from: Ring, slot: number, to: Ring, target: number): void => {
  for (const name of ['id', 'at', 'previous', 'server', 'rulesLow', 'rulesHigh'] as const)
    to[name][target] = from[name][slot] ?? 0
}

/** The newest place of each address: open addressing, without removal. */
const createHeads = (wanted: number) => {
  const capacity = 2 ** Math.ceil(Math.log2(wanted))
  const high = new Uint32Array(capacity)
  const low = new Uint32Array(capacity)
  /** -1: free. */
  const place = new Float64Array(capacity).fill(-1)
  let size = 0
  const find = (key: AddressKey): number => {
    let slot = (Math.imul(key.high, 0x9e3779b1) ^ Math.imul(key.low ^ (key.low >>> 15), 0x85ebca6b)) >>> 0
    slot = (slot ^ (slot >>> 13)) & (capacity - 1)
    while (place[slot] !== -1 && (high[slot] !== key.high || low[slot] !== key.low)) slot = (slot + 1) & (capacity - 1)
    return slot
  }
  return {
    capacity,
    get size() {
      return size
    },
    get: (key: AddressKey): number => place[find(key)] ?? -1,
    set(key: AddressKey, value: number) {
      const slot = find(key)
      if (place[slot] === -1) size++
      high[slot] = key.high
      low[slot] = key.low
      place[slot] = value
    },
    each(use: (key: AddressKey, value: number) => void) {
      for (let slot = 0; slot < capacity; slot++)
        if ((place[slot] ?? -1) >= 0) use({ high: high[slot] ?? 0, low: low[slot] ?? 0 }, place[slot] ?? -1)
    },
  }
}
