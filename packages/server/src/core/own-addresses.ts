import { networkInterfaces } from 'node:os'

/** Addresses under which other machines may reach this one; IPv4 first. Addresses that need a scope are left out. */
export const ownAddresses = (): string[] =>
  Object.values(networkInterfaces())
    .flatMap(list => list ?? [])
    .filter(({ internal, scopeid }) => !internal && !scopeid)
    .map(({ address }) => address)
    .sort((a, b) => Number(a.includes(':')) - Number(b.includes(':')) || a.localeCompare(b))
