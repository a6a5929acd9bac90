import { NetlinkError } from '../netlink/connection.ts'
import type { NetlinkConnection } from '../netlink/connection.ts'
import type { Draft } from '../netlink/codec.ts'
import {
  deleteChain,
  deleteElements,
  deleteRules,
  deleteSet,
  deleteTable,
  flushSet,
  getElements,
  getGeneration,
  getRules,
  getTable,
  newChain,
  newElements,
  newRule,
  newSet,
  newTable,
  readElements,
  readGeneration,
  readKeys,
  readRuleCounter,
  readRules,
  readTableFlags,
  tableFlag,
} from '../netlink/tables.ts'
import type { FoundRule, SetElement } from '../netlink/tables.ts'
import { KernelRefused } from './kernel.ts'
import type { Kernel, Placed } from './kernel.ts'
import { loadScript, shortScript } from './nft-program.ts'
import { chainsOf, hitChain, listSetsOf, setsOf, shieldTable, tableText } from './rules.ts'
import type { Shape } from './rules.ts'

/** Where nft compiles rules. Nothing in it is hooked, so no packet sees it. */
const tryTable = 'stockade_try'

/** From the most to the least that a kernel may support: persist is of Linux 6.9, and an owner without it must not end the table. */
const wantedFlags = [tableFlag.owner | tableFlag.persist, 0]

/** The driver over a netlink socket. nft compiles the rules once; everything else goes to the kernel directly. */
export const createNetlinkKernel = (connection: NetlinkConnection, nft: readonly string[]): Kernel => {
  let compiled: { readonly text: string; readonly rules: readonly FoundRule[] } | null = null
  let flags = wantedFlags[0] ?? 0
  /** Chains and handles of the rules. The kernel gives a changed rule another handle. */
  let signature = ''
  /** Transactions of this driver since it was made; the kernel counts one generation for each. */
  let ownTransactions = 0
  const commit = (drafts: readonly Draft[]): void => {
    connection.commit(drafts)
    ownTransactions += 1
  }

  const attempt = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      throw error instanceof NetlinkError ? refusal(error) : error
    }
  }

  const exists = (): boolean => {
    try {
      return connection.ask(getTable(shieldTable)).length > 0
    } catch (error) {
      if (error instanceof NetlinkError && error.code === 'ENOENT') return false
      throw error
    }
  }

  /** The expressions of the rules, as nft makes them. */
  const compile = async (shape: Shape): Promise<readonly FoundRule[]> => {
    const text = tableText(shape, tryTable, false)
    if (compiled?.text !== text) {
      // The table is there after the first line, so the second never fails.
      await loadScript(nft, `add table inet ${tryTable}\ndelete table inet ${tryTable}\n${text}`, shortScript)
      const rules = attempt(() => readRules(connection.ask(getRules(tryTable))))
      attempt(() => commit([deleteTable(tryTable)]))
      compiled = { text, rules }
    }
    return compiled.rules
  }

  const structure = (shape: Shape, rules: readonly FoundRule[]): Draft[] => [
    ...setsOf(shape).map((set, i) => newSet(shieldTable, set, i + 1)),
    ...chainsOf(shape).map(({ name, priority }) => newChain(shieldTable, name, priority)),
    ...chainsOf(shape).map(({ name }) => deleteRules(shieldTable, name)),
    ...rules.map(({ chain, expressions }) => newRule(shieldTable, chain, expressions)),
  ]

  const readSignature = (): string =>
    readRules(connection.ask(getRules(shieldTable)))
      .map(({ chain, handle }) => `${chain}:${handle}`)
      .join(' ')

  return {
    driver: 'netlink',
    isOwned: () => (flags & tableFlag.owner) !== 0,
    async replace(shape, elements) {
      const rules = await compile(shape)
      const rest = [...structure(shape, rules), ...elementDrafts(newElements, elements)]
      attempt(() => {
        const start = exists() ? [deleteTable(shieldTable)] : []
        for (const candidate of wantedFlags.slice(wantedFlags.indexOf(flags))) {
          try {
            commit([...start, newTable(shieldTable, candidate), ...rest])
            flags = candidate
            break
          } catch (error) {
            const isUnknown = error instanceof NetlinkError && /^(EOPNOTSUPP|ENOTSUP|EINVAL)$/.test(error.code)
            if (!isUnknown || candidate === 0) throw error
          }
        }
        signature = readSignature()
      })
    },
    async reshape(shape, gone) {
      const rules = await compile(shape)
      const unused = [
        ...(gone?.chains ?? []).map(name => deleteRules(shieldTable, name)),
        ...(gone?.chains ?? []).map(name => deleteChain(shieldTable, name)),
        ...(gone?.sets ?? []).map(name => deleteSet(shieldTable, name)),
      ]
      attempt(() => {
        commit([...structure(shape, rules), ...unused])
        signature = readSignature()
      })
    },
    addListSets: async lists =>
      attempt(() => {
        const sets = listSetsOf(lists)
        commit([
          ...sets.map((set, i) => newSet(shieldTable, set, i + 1)),
          ...sets.map(({ name }) => flushSet(shieldTable, name)),
        ])
      }),
    fill: async elements => attempt(() => commit(elementDrafts(newElements, elements))),
    keys: async set =>
      attempt(() => readKeys(connection.ask(getElements(shieldTable, set)), set.endsWith('_4') ? 4 : 16)),
    listed: () =>
      attempt(
        () =>
          new Map(
            readRules(connection.ask(getRules(shieldTable)))
              .filter(({ chain }) => chain.startsWith('list_'))
              .map(rule => [rule.chain, readRuleCounter(rule) ?? 0]),
          ),
      ),
    async change(added, removed) {
      // The deletion of an absent element fails the whole transaction, so each is added before.
      const again = [...removed, ...added]
      attempt(() =>
        commit([
          ...elementDrafts(newElements, again.map(soonOver)),
          ...elementDrafts(deleteElements, again),
          ...elementDrafts(newElements, added),
        ]),
      )
    },
    async find(set, key) {
      try {
        const [element] = readElements(connection.ask(getElements(shieldTable, set, key)))
        return element ?? null
      } catch (error) {
        if (error instanceof NetlinkError && error.code === 'ENOENT') return null
        throw error instanceof NetlinkError ? refusal(error) : error
      }
    },
    elements: async set =>
      attempt(
        () =>
          new Map(
            readElements(connection.ask(getElements(shieldTable, set))).map(({ key, expires }) => [
              key.toString('hex'),
              expires,
            ]),
          ),
      ),
    damage: async () =>
      attempt(() => {
        if (!exists()) return 'is gone'
        const isDormant = (readTableFlags(connection.ask(getTable(shieldTable))) & tableFlag.dormant) !== 0
        return isDormant || readSignature() !== signature ? 'was changed by somebody' : null
      }),
    generation: () => attempt(() => readGeneration(connection.ask(getGeneration))),
    // The kernel's counter has 32 bits.
    foreign: () => attempt(() => (readGeneration(connection.ask(getGeneration)) - ownTransactions) >>> 0),
    dropped: () =>
      attempt(() =>
        readRules(connection.ask(getRules(shieldTable)))
          .filter(({ chain }) => chain === hitChain)
          .reduce((sum, rule) => sum + (readRuleCounter(rule) ?? 0), 0),
      ),
    async remove() {
      attempt(() => {
        if (exists()) commit([deleteTable(shieldTable)])
      })
    },
  }
}

/** An element that is added only to be deleted in the same transaction. */
const soonOver = (placed: Placed): Placed => ({ ...placed, timeout: placed.timeout === null ? null : 1000 })

/** Elements of one message at most; the objects of earlier ones are garbage by then. */
const gathered = 1500

const elementDrafts = (make: typeof newElements, elements: Iterable<Placed>): Draft[] => {
  const drafts: Draft[] = []
  const bySet = new Map<string, SetElement[]>()
  for (const { set, entry, timeout } of elements) {
    let list = bySet.get(set)
    if (list === undefined) bySet.set(set, (list = []))
    list.push({ key: entry.key, timeout })
    if (list.length < gathered) continue
    drafts.push(...make(shieldTable, set, list))
    bySet.delete(set)
  }
  for (const [set, list] of bySet) if (list.length > 0) drafts.push(...make(shieldTable, set, list))
  return drafts
}

const refusal = (error: NetlinkError): KernelRefused => {
  if (error.code === 'ENFILE') return new KernelRefused('the shield is full', error.code)
  if (error.code === 'EPERM')
    return new KernelRefused(
      'the kernel does not let the agent change its table: it belongs to another process',
      error.code,
    )
  return new KernelRefused(error.message, error.code)
}
