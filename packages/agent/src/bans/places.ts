/** What the agent knows by jail and address. Two maps, because a key of both would cost more memory than the address. */
export interface Places<T extends { readonly jail: string; readonly ip: string }> {
  get(jail: string, ip: string): T | null
  set(value: T): void
  delete(jail: string, ip: string): void
  /** Of this address, in one jail or in all. */
  of(ip: string, jail: string | null): T[]
  values(): Generator<T>
  size(): number
  /** The places that changed since `settle`. */
  changed(): Generator<readonly [jail: string, ip: string]>
  /** The changes are on the disk. */
  settle(): void
}

export const createPlaces = <T extends { readonly jail: string; readonly ip: string }>(): Places<T> => {
  const jails = new Map<string, Map<string, T>>()
  const changes = new Map<string, Set<string>>()
  let size = 0

  const note = (jail: string, ip: string): void => {
    const noted = changes.get(jail)
    if (noted) noted.add(ip)
    else changes.set(jail, new Set([ip]))
  }

  return {
    get: (jail, ip) => jails.get(jail)?.get(ip) ?? null,
    set(value) {
      const { jail, ip } = value
      const places = jails.get(jail) ?? new Map<string, T>()
      jails.set(jail, places)
      if (!places.has(ip)) size += 1
      places.set(ip, value)
      note(jail, ip)
    },
    delete(jail, ip) {
      if (jails.get(jail)?.delete(ip) !== true) return
      size -= 1
      note(jail, ip)
    },
    of: (ip, jail) =>
      [...jails].flatMap(([name, known]) => {
        const value = jail === null || name === jail ? known.get(ip) : undefined
        return value === undefined ? [] : [value]
      }),
    *values() {
      for (const place of jails.values()) yield* place.values()
    },
    size: () => size,
    *changed() {
      for (const [jail, ips] of changes) for (const ip of ips) yield [jail, ip]
    },
    settle: () => changes.clear(),
  }
}
