import { createHash } from 'node:crypto'
import { canonicalIp, fromKey } from '../ip.ts'
import { asFields, asList } from '../json.ts'
import { toEntry } from './entry.ts'
import type { FoundBan, Kernel, Placed } from './kernel.ts'
import { loadScript, readFromNft } from './nft-program.ts'
import { addSetLine, chainsOf, listSetsOf, reshapeText, shieldTable, tableText } from './rules.ts'
import type { Shape } from './rules.ts'

/** Elements in one line of a script. */
const perLine = 1000

/** The driver over the nft program, for hosts without a netlink socket. A look-up reads its whole set. */
export const createNftKernel = (nft: readonly string[]): Kernel => {
  let shapeInKernel: Shape | null = null
  let signature = ''

  /** The rules without their counters; null if a chain is gone. */
  const readSignature = async (): Promise<string | null> => {
    const hash = createHash('sha256')
    for (const { name } of shapeInKernel === null ? [] : chainsOf(shapeInKernel)) {
      const text = await readFromNft(nft, ['-a', 'list', 'chain', 'inet', shieldTable, name])
      if (text === null) return null
      hash.update(text.replace(/packets \d+ bytes \d+/g, ''))
    }
    return hash.digest('hex')
  }

  /** `add table` before it would fail: the table may have flags of the other driver. */
  const deletion = async (): Promise<string> => {
    const tables = (await readFromNft(nft, ['list', 'tables', 'inet'])) ?? ''
    return new RegExp(` ${shieldTable}$`, 'm').test(tables) ? `delete table inet ${shieldTable}\n` : ''
  }

  const settle = async (shape: Shape): Promise<void> => {
    shapeInKernel = shape
    signature = (await readSignature()) ?? ''
  }

  return {
    driver: 'nft',
    isOwned: () => false,
    async replace(shape, elements) {
      await loadScript(nft, `${await deletion()}${tableText(shape, shieldTable, true)}${elementLines('add', elements)}`)
      await settle(shape)
    },
    async reshape(shape, gone) {
      const unused = [
        ...(gone?.chains ?? []).map(name => `flush chain inet ${shieldTable} ${name}\n`),
        ...(gone?.chains ?? []).map(name => `delete chain inet ${shieldTable} ${name}\n`),
        ...(gone?.sets ?? []).map(name => `delete set inet ${shieldTable} ${name}\n`),
      ]
      await loadScript(nft, `${reshapeText(shape, shieldTable)}${unused.join('')}`)
      await settle(shape)
    },
    async addListSets(lists) {
      const lines = listSetsOf(lists).map(
        set => `${addSetLine(set, shieldTable)}\nflush set inet ${shieldTable} ${set.name}\n`,
      )
      await loadScript(nft, lines.join(''))
    },
    async fill(elements) {
      if (elements.length > 0) await loadScript(nft, elementLines('add', elements))
    },
    async keys(set) {
      const text = await readFromNft(nft, ['-j', 'list', 'set', 'inet', shieldTable, set])
      return Buffer.concat(elementsOf(text ?? '{}').map(([key]) => Buffer.from(key, 'hex')))
    },
    listed: () => null,
    async change(added, removed) {
      // The deletion of an absent element fails the whole transaction, so each is added before.
      const again = [...removed, ...added]
      await loadScript(
        nft,
        `${elementLines('add', again)}${elementLines('delete', again)}${elementLines('add', added)}`,
      )
    },
    async find(set, key): Promise<FoundBan | null> {
      const text = await readFromNft(nft, ['-j', 'get', 'element', 'inet', shieldTable, set, `{ ${fromKey(key)} }`])
      return text === null ? null : { expires: expiryOf(text), packets: null }
    },
    async elements(set) {
      const text = await readFromNft(nft, ['-j', 'list', 'set', 'inet', shieldTable, set])
      return new Map(elementsOf(text ?? '{}'))
    },
    async damage() {
      const kernelSignature = await readSignature()
      if (kernelSignature === null) return 'is gone'
      return kernelSignature === signature ? null : 'was changed by somebody'
    },
    generation: () => null,
    foreign: () => null,
    dropped: () => null,
    async remove() {
      await loadScript(nft, await deletion())
    },
  }
}

const elementLines = (verb: 'add' | 'delete', elements: Iterable<Placed>): string => {
  const bySet = new Map<string, string[]>()
  for (const { set, entry, timeout } of elements) {
    const list = bySet.get(set) ?? []
    list.push(`${fromKey(entry.key)}${verb === 'delete' || timeout === null ? '' : ` timeout ${timeout}ms`}`)
    bySet.set(set, list)
  }
  const lines: string[] = []
  for (const [set, list] of bySet)
    for (let i = 0; i < list.length; i += perLine)
      lines.push(`${verb} element inet ${shieldTable} ${set} { ${list.slice(i, i + perLine).join(', ')} }\n`)
  return lines.join('')
}

/** nft rounds to whole seconds. */
const expiryOf = (json: string): number | null => {
  const seconds = /"expires": (\d+)/.exec(json)?.[1]
  return seconds === undefined ? null : Number(seconds) * 1000
}

const elementsOf = (json: string): [key: string, expires: number | null][] =>
  asList(asFields(JSON.parse(json))['nftables'])
    .flatMap(item => asList(asFields(asFields(item)['set'])['elem']))
    .flatMap(item => {
      const fields = asFields(asFields(item)['elem'])
      const value = typeof item === 'string' ? item : fields['val']
      const canonical = typeof value === 'string' ? canonicalIp(value) : null
      const expires = fields['expires']
      return canonical === null
        ? []
        : [[toEntry(canonical).key.toString('hex'), typeof expires === 'number' ? expires * 1000 : null]]
    })
