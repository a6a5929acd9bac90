import { readJson, writeDurably } from '../files.ts'
import { asFields, asInteger, asList, asText } from '../json.ts'
import { firstBytes } from '../text.ts'
import type { CommandResult } from '../wire.ts'

const keptCommands = 1000
/** The file is rewritten at each step, so only the newest commands keep their full output. */
const keptWhole = 20

interface Item {
  readonly id: string
  readonly at: number
  readonly result: CommandResult | null
  readonly told: boolean
}

const unknownResult: CommandResult = {
  success: false,
  output: 'the agent restarted while this ran; outcome unknown',
  exit_code: null,
}

export interface Journal {
  has(id: string): boolean
  /** On the disk when this resolves. A rejected start is forgotten. */
  started(id: string): Promise<void>
  finished(id: string, result: CommandResult): Promise<void>
  /** The server delivered the command again, so its result is reported again. */
  tellAgain(id: string): void
  told(ids: readonly string[]): void
  untold(limit: number): (CommandResult & { id: string })[]
}

/**
 * Commands and their results. A command is on the disk before it runs, so it never runs twice, even if it is delivered
 * again after a crash. The last 1000 are kept. Steps that come together are written together.
 */
export const openJournal = (
  path: string,
  now: () => number,
  { kept = keptCommands, isUnderWay = () => false }: { kept?: number; isUnderWay?: (id: string) => boolean } = {},
): Journal => {
  const items = new Map<string, Item>()
  for (const value of asList(asFields(readJson(path))['commands'])) {
    const fields = asFields(value)
    const id = asText(fields['id'])
    const result = fields['result'] === null ? null : resultOf(fields['result'])
    // Without a result, the agent died while it ran, unless another process goes on with it. Its effect is unknown, and
    // running it again could do it twice.
    items.set(id, {
      id,
      at: asInteger(fields['at'], 0),
      result: result ?? (isUnderWay(id) ? null : unknownResult),
      told: result !== null && fields['told'] === true,
    })
  }

  /** Steps that are not on the disk yet, with what they replaced. */
  let unsaved: {
    readonly id: string
    readonly before: Item | undefined
    readonly settle: (error?: unknown) => void
  }[] = []

  const put = (item: Item): void => {
    items.delete(item.id)
    items.set(item.id, item)
  }

  const saveTogether = (): void => {
    const steps = unsaved
    unsaved = []
    try {
      save()
      for (const { settle } of steps) settle()
    } catch (error) {
      for (const { id, before, settle } of steps) {
        items.delete(id)
        if (before !== undefined) items.set(id, before)
        settle(error)
      }
    }
  }

  const write = (item: Item): Promise<void> =>
    new Promise((resolve, reject) => {
      if (unsaved.length === 0) setImmediate(saveTogether)
      const settle = (error?: unknown): void => (error === undefined ? resolve() : reject(error))
      unsaved.push({ id: item.id, before: items.get(item.id), settle })
      put(item)
    })

  const save = (): void => {
    const spare = items.size - kept
    let index = 0
    for (const [id, item] of items) {
      if (index < spare && item.told) items.delete(id)
      else if (index < items.size - keptWhole && item.told && item.result && item.result.output.length > 2000) {
        items.set(id, { ...item, result: { ...item.result, output: firstBytes(item.result.output, 1000) } })
      }
      index += 1
    }
    writeDurably(path, JSON.stringify({ v: 1, commands: [...items.values()] }))
  }

  return {
    has: (id: string): boolean => items.has(id),
    started: (id: string): Promise<void> => write({ id, at: now(), result: null, told: false }),
    finished: (id: string, result: CommandResult): Promise<void> => write({ id, at: now(), result, told: false }),
    tellAgain(id: string): void {
      const item = items.get(id)
      if (!item?.result || !item.told) return
      put({ ...item, told: false })
      save()
    },
    told(ids: readonly string[]): void {
      for (const id of ids) {
        const item = items.get(id)
        if (item) items.set(id, { ...item, told: true })
      }
      save()
    },
    untold(limit: number): (CommandResult & { id: string })[] {
      const results: (CommandResult & { id: string })[] = []
      const isUnsaved = new Set(unsaved.map(({ id }) => id))
      for (const { id, result, told } of items.values()) {
        if (result && !told && results.length < limit && !isUnsaved.has(id)) results.push({ id, ...result })
      }
      return results
    },
  }
}

const resultOf = (value: unknown): CommandResult => {
  const fields = asFields(value)
  const code = fields['exit_code']
  return {
    success: fields['success'] === true,
    output: asText(fields['output']),
    exit_code: typeof code === 'number' ? code : null,
  }
}
