import type { Enrolled, Place } from './messages.ts'
import type { Admin } from './requests.ts'

/** Requests under way at once. */
const lanes = 32
/** Hosts that connect from one address: a pair of addresses has 28,000 ports, and a host needs two of them at most. */
const hostsOfSource = 5000

/** Does the work for each index below the count, several at once. */
const inLanes = async (count: number, work: (index: number) => Promise<void>): Promise<void> => {
  let next = 0
  const lane = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

export const registerAll = async (admin: Admin, count: number): Promise<readonly Enrolled[]> => {
  const enrolled: Enrolled[] = []
  await inLanes(count, async index => {
    const made = await admin('POST', '/servers', { hostname: `sim-${index}.example` })
    enrolled.push({ id: String(made.id), key: String(made.api_key) })
  })
  return enrolled
}
export const removeAll = (admin: Admin, enrolled: readonly Enrolled[]): Promise<void> =>
  inLanes(enrolled.length, async index => {
    await admin('DELETE', `/servers/${enrolled[index]?.id ?? ''}`)
  })

/** Each host's way: the entrances in turn, and on this machine an address for some thousand hosts. */
export const placesOf = (enrolled: readonly Enrolled[], entrances: readonly string[]): readonly Place[] => {
  const isHere = entrances.every(entrance => new URL(entrance).hostname.startsWith('127.'))
  return enrolled.map((host, index) => ({
    ...host,
    base: entrances[index % entrances.length] ?? '',
    source: isHere && enrolled.length > hostsOfSource ? `127.0.0.${10 + Math.floor(index / hostsOfSource)}` : null,
  }))
}
