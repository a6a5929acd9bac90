import type { DateForm } from './dates.ts'

/*
 * Finds the date in each of several lines as the engine does: it remembers where the last one stood and which form had
 * it, tries that first, and moves forms that hit to the front. So what it finds depends on the lines before.
 */

export interface FoundDate {
  /** Where the date begins and ends in the line; null where the form that was found has none. */
  readonly span: readonly [number, number] | null
  readonly groups: Readonly<Record<string, string | undefined>>
}
export interface Detector {
  /** The date of the next line; null where there is none. @throws Stumble where the engine gives the line up. */
  find(line: string): FoundDate | null
}
/** The engine fails at this line, and does not look at it any further. */
export class Stumble extends Error {}

interface Candidate {
  readonly form: DateForm
  readonly regex: RegExp
  /** How often it was the one. */
  wins: number
  /** Where the last date began that it found. */
  distance: number
}
/** A find, in characters rather than halves of them. */
interface Find {
  readonly match: RegExpExecArray
  readonly from: number
  readonly to: number
  readonly index: number
}

const nowhere = 0x7fffffff

export const createDetector = (forms: readonly DateForm[]): Detector => {
  const order: Candidate[] = forms.map(form => ({
    form,
    regex: new RegExp(form.source, form.flags),
    wins: 0,
    distance: nowhere,
  }))
  /** Forms that have ever matched, whether they were taken or not. */
  const usedForms = new Set<DateForm>()
  let lastIndex = nowhere
  let last = { from: 1, to: nowhere, before: '', first: '', final: '', behind: '' }
  let firstUnused = 0

  const search = (index: number, text: Text, from = 0, to = text.length): Find | null => {
    const candidate = order[index]
    if (!candidate) return null
    candidate.regex.lastIndex = text.toUnits(from)
    const match = candidate.regex.exec(to >= text.length ? text.line : text.line.slice(0, text.toUnits(to)))
    if (!match) return null
    usedForms.add(candidate.form)
    const [begin, end] = match.indices?.[0] ?? [0, 0]
    return { match, from: text.toPoints(begin), to: text.toPoints(end), index }
  }

  /** Where the last date stood, provided that the same characters are around it. */
  const searchAgain = (text: Text): { found: Find | null; tried: boolean } => {
    const candidate = order[lastIndex]
    if (!candidate) return { found: null, tried: false }
    if (candidate.form.anchored) return { found: search(lastIndex, text), tried: true }
    const front = text.at(last.from - 1) === last.before || (text.at(last.from) === last.first && !isWordy(last.first))
    const back = text.at(last.to) === last.behind || (text.at(last.to - 1) === last.final && !isWordy(last.final))
    return front && back
      ? { found: search(lastIndex, text, last.from, last.to), tried: false }
      : { found: search(lastIndex, text), tried: true }
  }

  const searchAll = (text: Text, skipped: number, reserve: Find | null): Find | null => {
    let best = reserve
    for (const [index, candidate] of order.entries()) {
      if (index === skipped) continue
      const dateMatch = search(index, text)
      if (!dateMatch) continue
      const next = order[index + 1]
      if (!next || candidate.form.anchored) return dateMatch
      if (dateMatch.from === 0 && candidate.wins > 0 && !usedForms.has(next.form)) return dateMatch
      // Further right than before it may stand in the message itself.
      if (dateMatch.from <= candidate.distance && dateMatch.from <= last.from) return dateMatch
      if (dateMatch.from < (best?.from ?? nowhere)) best = dateMatch
    }
    return best
  }

  /** Moves a form that hit towards the front, and says where it is now. */
  const moveUp = (index: number): number => {
    const mover = order[index]
    if (!mover) return index
    const mayTake = (place: number) => {
      const holder = order[place]
      return holder !== undefined && (weightOf(mover) > weightOf(holder) || holder.wins === 0)
    }
    let place = firstUnused < index ? firstUnused : Math.floor(index / 2)
    if (!mayTake(place)) {
      if (place === index - 1 || !mayTake(index - 1)) return index
      place = index - 1
    }
    order.splice(index, 1)
    order.splice(place, 0, mover)
    while (firstUnused < order.length && (order[firstUnused]?.wins ?? 0) > 0) firstUnused++
    return place
  }

  const choose = (text: Text): Find | null => {
    const { found, tried } = searchAgain(text)
    const same = found !== null && found.from === last.from && found.to === last.to
    if (found && (order.length === 1 || order[lastIndex]?.form.anchored === true || same)) return found
    return searchAll(text, tried ? lastIndex : nowhere, found)
  }

  return {
    find(line) {
      const text = textOf(line)
      const choice = choose(text)
      if (!choice) return null
      const candidate = order[choice.index]
      if (!candidate) return null
      candidate.wins++
      candidate.distance = choice.from
      if (firstUnused === choice.index) firstUnused++
      if (choice.from >= text.length) throw new Stumble('There is no character where the date would be.')
      last = {
        from: choice.from,
        to: choice.to,
        before: text.at(choice.from - 1),
        first: text.at(choice.from),
        final: text.at(choice.to === 0 ? text.length - 1 : choice.to - 1),
        behind: text.at(choice.to),
      }
      lastIndex = choice.index > 0 && choice.index !== lastIndex ? moveUp(choice.index) : choice.index
      const { indices, groups } = choice.match
      return { span: indices?.[1] ?? null, groups: groups ?? {} }
    },
  }
}

const weightOf = ({ form, wins, distance }: Candidate) => (wins * form.weight) / Math.max(1, distance)
const isWordy = (character: string) => /[\p{L}\p{N}]/u.test(character)

/** A line whose places are counted in characters, as Python counts them, and in UTF-16, as JavaScript does. */
interface Text {
  readonly line: string
  readonly length: number
  /** The character there; nothing outside. */
  at(point: number): string
  toUnits(point: number): number
  toPoints(unit: number): number
}
const textOf = (line: string): Text => {
  if (!/[\ud800-\udfff]/.test(line))
    return {
      line,
      length: line.length,
      at: point => (point < 0 ? '' : line.charAt(point)),
      toUnits: point => point,
      toPoints: unit => unit,
    }
  const characters = [...line]
  return {
    line,
    length: characters.length,
    at: point => characters[point] ?? '',
    toUnits: point => characters.slice(0, point).join('').length,
    toPoints: unit => [...line.slice(0, unit)].length,
  }
}
