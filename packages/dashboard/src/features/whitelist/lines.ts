import { readRange } from '../../lib/address.ts'

export interface EntryLine {
  readonly ip: string
  readonly description: string
}
export interface ReadLines {
  readonly entries: readonly EntryLine[]
  /** Lines that are neither an entry nor empty nor a comment; counted from 1. */
  readonly wrong: readonly { readonly line: number; readonly text: string }[]
}

/** One entry a line, its description after `#`; empty lines and those that are all comment are left out. */
export const readLines = (typed: string): ReadLines => {
  const entries: EntryLine[] = []
  const wrong: { line: number; text: string }[] = []
  typed.split(/\r?\n/).forEach((text, index) => {
    const [address = '', ...rest] = text.split('#')
    const ip = address.trim()
    if (ip === '') return
    if (readRange(ip)) entries.push({ ip, description: rest.join('#').trim().slice(0, 1000) })
    else wrong.push({ line: index + 1, text: ip })
  })
  return { entries, wrong }
}

/** How many addresses an entry holds; null beyond what is worth counting. */
export const sizeOf = (ip: string): number | null => {
  const range = readRange(ip)
  if (!range) return null
  const bits = range.bits - range.prefix
  return bits <= 32 ? 2 ** bits : null
}

/** Wider than this is rarely meant: it has to be typed once more. */
const widest = { 32: 16, 128: 32 } as const
export const isWide = (ip: string): boolean => {
  const range = readRange(ip)
  return range !== null && range.prefix < widest[range.bits]
}
