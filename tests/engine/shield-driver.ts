/**
 * Runs inside a host's namespace and drives the shield's table there: each line of standard input is a request, each line
 * of standard output its answer.
 *
 *   launcher.py node shield-driver.ts netlink|nft stateful|stateless
 */
import { createInterface } from 'node:readline'
import { inheritedConnection } from '../../packages/agent/src/netlink/connection.ts'
import { nftablesSubsystem } from '../../packages/agent/src/netlink/tables.ts'
import { createNetlinkKernel } from '../../packages/agent/src/shield/netlink-kernel.ts'
import type { HeldList, ListMode } from '../../packages/agent/src/shield/list-store.ts'
import { takenOf } from '../../packages/agent/src/shield/list-ranges.ts'
import { parseListed } from '../../packages/agent/src/shield/listed.ts'
import { createNftKernel } from '../../packages/agent/src/shield/nft-kernel.ts'
import { createTable } from '../../packages/agent/src/shield/table.ts'
import type { Wanted } from '../../packages/agent/src/shield/table.ts'

export interface DriverRequest {
  readonly load?: { readonly bans: readonly Wanted[]; readonly kept: readonly string[] }
  readonly add?: readonly Wanted[]
  readonly remove?: readonly string[]
  readonly find?: string
  /** Blocklists by their content. */
  readonly lists?: readonly {
    readonly id: number
    readonly version: number
    readonly mode: ListMode
    readonly text: string
  }[]
  readonly holdsList?: number
  readonly isKept?: string
  readonly ask?: 'damage' | 'addMissing' | 'stateful' | 'generation' | 'isOwned' | 'listed'
}

const openKernel = () => {
  if (process.argv[2] === 'nft') return createNftKernel(['nft'])
  const connection = inheritedConnection(nftablesSubsystem)
  if (connection === null) throw new Error('there is no netlink socket')
  return createNetlinkKernel(connection, ['nft'])
}

const kernel = openKernel()
let bans: readonly Wanted[] = []
let kept: readonly string[] = []
let lists: readonly HeldList[] = []
const table = createTable({
  kernel,
  wanted: () => bans,
  kept: () => kept,
  mode: process.argv[3] === 'stateful' ? 'stateful' : 'stateless',
  lists: () => lists,
})

const answer = async (request: DriverRequest): Promise<unknown> => {
  if (request.load !== undefined) {
    ;({ bans, kept } = request.load)
    return table.load()
  }
  if (request.lists !== undefined) {
    lists = request.lists.map(({ text, ...list }) => ({
      ...list,
      digest: '',
      entries: text.split('\n').length - 1,
      ...takenOf(parseListed(text, 200_000), null),
    }))
    return table.takeLists()
  }
  if (request.holdsList !== undefined) {
    const held = lists.find(({ id }) => id === request.holdsList)
    return held !== undefined && table.holdsList(held)
  }
  if (request.ask === 'listed') return Object.fromEntries(kernel.listed() ?? [])
  if (request.find !== undefined) return table.find(request.find)
  if (request.isKept !== undefined) return table.isKept(request.isKept)
  if (request.ask === 'damage') return table.damage()
  if (request.ask === 'addMissing') return table.addMissing()
  if (request.ask === 'stateful') return table.setMode('stateful')
  if (request.ask === 'generation') return kernel.generation()
  if (request.ask === 'isOwned') return kernel.isOwned()
  return table.change(request.add ?? [], request.remove ?? [])
}

for await (const line of createInterface({ input: process.stdin })) {
  const reply = await answer(JSON.parse(line) as DriverRequest).then(
    value => ({ value: value ?? null }),
    (error: unknown) => ({ error: (error as Error).message, code: (error as { code?: string }).code }),
  )
  process.stdout.write(`${JSON.stringify(reply)}\n`)
}
