import type { Target, TargetInput } from '@stockade/contract'
import { sees } from '../../core/actor.ts'
import type { Principal } from '../../core/actor.ts'
import { forbidden, invalid } from '../../core/problem.ts'
import type { Registry, Server } from './registry.ts'
import { tagsOf } from './tags.store.ts'

/** All servers, those of the future too; or these, by number, and those that have at least one of the tags at a time. */
export type Targets = 'all' | { readonly nos: ReadonlySet<number>; readonly tags: ReadonlySet<string> }

interface StoredTargets {
  readonly nos?: readonly number[]
  readonly tags: readonly string[]
}

/** As it is stored: equal targets have equal texts. */
export const textOf = (targets: Targets): string => {
  if (targets === 'all') return 'all'
  const nos = [...targets.nos].sort((a, b) => a - b)
  if (targets.tags.size === 0) return JSON.stringify(nos)
  return JSON.stringify({ ...(nos.length > 0 ? { nos } : {}), tags: [...targets.tags].sort() })
}
export const targetsOf = (text: string): Targets => {
  if (text === 'all') return 'all'
  const stored = JSON.parse(text) as readonly number[] | StoredTargets
  if ('tags' in stored) return { nos: new Set(stored.nos), tags: new Set(stored.tags) }
  return { nos: new Set(stored), tags: new Set() }
}
export const union = (a: Targets, b: Targets): Targets =>
  a === 'all' || b === 'all' ? 'all' : { nos: new Set([...a.nos, ...b.nos]), tags: new Set([...a.tags, ...b.tags]) }

type Seeing = Pick<Principal, 'servers' | 'accessTags'>

/** What objects of the fleet that are for some servers ask of their targets. */
export interface Targeting {
  /** The targets in a body. @throws Problem 400 at `path`, 403 outside the caller's access */
  named(actor: Principal, input: TargetInput, path?: string): Targets
  /** Whether the server is among them now. */
  concerns(targets: Targets, serverNo: number): boolean
  /** Those that there are now, by hostname. */
  serversOf(targets: Targets): readonly Server[]
  /** Whether the caller sees at least one of the servers, or of the tags. */
  isVisible(actor: Seeing, targets: Targets): boolean
  /** Whether the caller has access to all of the servers, those of the future too. Those that were deleted do not count. */
  isWithin(actor: Seeing, targets: Targets): boolean
  /** As replies say it, of what the caller sees. */
  view(actor: Seeing, targets: Targets): Target
  /** As events say it: `all`, or names of servers and `tag:NAME`; and how many servers it is now. */
  describe(targets: Targets): { readonly target: 'all' | string[]; readonly servers: number }
}

const shape = 'must be {"all": true}, {"server_ids": [...]} or {"tags": [...]}'
/** Servers that an event names at most. */
const described = 20

export const createTargeting = (registry: Pick<Registry, 'all' | 'byId' | 'byNo'>): Targeting => {
  const hasTag = (server: Server | undefined, tags: ReadonlySet<string>) =>
    server !== undefined && tagsOf(server.row).some(tag => tags.has(tag))
  const concerns = (targets: Targets, serverNo: number): boolean => {
    if (targets === 'all' || targets.nos.has(serverNo)) return true
    return targets.tags.size > 0 && hasTag(registry.byNo(serverNo), targets.tags)
  }
  const serversOf = (targets: Targets) =>
    targets === 'all' ? registry.all() : registry.all().filter(({ row }) => concerns(targets, row.no))
  const serverNamed = (actor: Principal, path: string, id: string) => {
    const server = registry.byId(id)
    if (!server) throw invalid(path, `There is no server ${id}.`)
    if (!sees(actor, server.row.no)) throw forbidden('You have no access to this server.')
    return server.row.no
  }
  /** The tags that the caller's access is by, or that a server has that the caller sees. */
  const tagsSeen = (actor: Seeing, tags: ReadonlySet<string>) => {
    if (actor.servers === 'all') return [...tags]
    const visibleTags = new Set([...actor.servers].flatMap(tagsOfNo))
    return [...tags].filter(tag => actor.accessTags.has(tag) || visibleTags.has(tag))
  }
  const tagsOfNo = (no: number) => {
    const server = registry.byNo(no)
    return server ? tagsOf(server.row) : []
  }

  return {
    concerns,
    serversOf,
    named(actor, { all, server_ids, tags }, path = 'target') {
      if ([all, server_ids, tags].filter(given => given !== undefined).length !== 1)
        throw invalid(path, `${path} ${shape}.`)
      if (server_ids)
        return { nos: new Set(server_ids.map(id => serverNamed(actor, `${path}.server_ids`, id))), tags: new Set() }
      if (tags) {
        const outside = tags.find(tag => actor.servers !== 'all' && !actor.accessTags.has(tag))
        if (outside === undefined) return { nos: new Set(), tags: new Set(tags) }
        throw forbidden(
          `This concerns all servers with the tag ${outside}, those of the future too, and your access is not by this tag. Name servers under server_ids.`,
        )
      }
      if (actor.servers !== 'all')
        throw forbidden('This concerns all servers, and you have access to some of them. Name these under server_ids.')
      return 'all'
    },
    isVisible(actor, targets) {
      if (actor.servers === 'all' || targets === 'all') return true
      for (const tag of targets.tags) if (actor.accessTags.has(tag)) return true
      for (const no of actor.servers) if (concerns(targets, no)) return true
      return false
    },
    isWithin(actor, targets) {
      if (actor.servers === 'all') return true
      if (targets === 'all') return false
      for (const tag of targets.tags) if (!actor.accessTags.has(tag)) return false
      for (const no of targets.nos) if (!sees(actor, no) && registry.byNo(no)) return false
      return true
    },
    view(actor, targets) {
      if (targets === 'all') return { all: true }
      const ids = [...targets.nos].flatMap(no => (sees(actor, no) ? (registry.byNo(no)?.row.id ?? []) : []))
      if (targets.tags.size === 0) return { server_ids: ids }
      return { ...(ids.length > 0 ? { server_ids: ids } : {}), tags: tagsSeen(actor, targets.tags).sort() }
    },
    describe(targets) {
      const servers = serversOf(targets).length
      if (targets === 'all') return { target: 'all', servers }
      const names = [...targets.nos].slice(0, described).flatMap(no => registry.byNo(no)?.row.hostname ?? [])
      return { target: [...[...targets.tags].sort().map(tag => `tag:${tag}`), ...names], servers }
    },
  }
}
