import { addressSet, classes, digit, everyCharacter, hostSet, word } from './regex-sets.ts'
import type { Set128 } from './regex-tree.ts'

/* fail2ban's tags, such as <HOST>, and the groups that they stand for. */

/** What the engine puts in place of a tag: its groups, and what it can match. */
const tagTable: Record<string, { names: readonly string[]; set: Set128; least: number }> = {
  HOST: { names: ['ip4', 'ip6', 'dns'], set: hostSet, least: 1 },
  ADDR: { names: ['ip4', 'ip6'], set: addressSet, least: 2 },
  IP4: { names: ['ip4'], set: addressSet, least: 7 },
  IP6: { names: ['ip6'], set: addressSet, least: 2 },
  DNS: { names: ['dns'], set: hostSet, least: 1 },
  CIDR: { names: ['cidr'], set: digit, least: 1 },
  SUBNET: { names: ['ip4', 'ip6', 'cidr'], set: addressSet, least: 2 },
  SKIPLINES: { names: [], set: everyCharacter, least: 1 },
  'F-ID/': { names: ['fid'], set: classes.S ?? word, least: 1 },
  'F-PORT/': { names: ['fport'], set: word, least: 1 },
}
/** Names are a stranger's: a plain object would also answer to `constructor`. */
export const tags = new Map(Object.entries(tagTable))
for (const name of ['ADDR', 'IP4', 'IP6', 'DNS', 'CIDR', 'SUBNET']) {
  const tag = tags.get(name)
  if (tag) tags.set(`F-${name}/`, tag)
}

/** The groups that say whose failure it is. */
const idGroups = ['fid', 'ip4', 'ip6', 'dns', 'mlfid']
export const namesSomebody = (names: ReadonlySet<string>): boolean => idGroups.some(name => names.has(name))

export const tagPattern = /<\/?[\w-]+\/?>/y
export const customTag = /^<(\/?)F-([A-Z0-9_-]+)>$/
export const mappedNames = new Map([
  ['id', 'fid'],
  ['port', 'fport'],
])
/** Whether the engine puts a pattern of its own in place of this. */
export const isHostTag = (tag: string): boolean => tags.has(tag.slice(1, -1)) || customTag.test(tag)
/** What stands where a variable of another file belongs: it has no width and no groups here. */
export const foreign = '\ue000'
