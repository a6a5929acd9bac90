/** Which lines of a log are written. A fault that comes back each few seconds must neither fill a disk nor hide other lines. */
export interface LogBounds {
  /**
   * The lines to write in place of this one: none where it is left out; before it one that counts what the minute left out.
   * @param isRepeatable whether the same text may come as often as it likes, within the bound of a minute
   */
  admit(text: string, isRepeatable: boolean): readonly string[]
}

const minute = 60_000
/** Lines in a minute. */
const perMinute = 120
/** A text comes so often before it has to pause. */
const freely = 3
/** The pause of a text doubles with each line up to the longest one. A text that was away for the longest pause is new again. Milliseconds. */
const firstPause = minute
const longestPause = 60 * minute
/** Texts that are remembered at the same time. */
const mostTexts = 200

/** Numbers, addresses, ids and random names differ in lines that say the same. */
const kindOf = (text: string): string => text.replace(/[\w.:-]*\d[\w.:-]*/g, '#')

interface Repeated {
  lines: number
  left: number
  pause: number
  nextAt: number
  seenAt: number
}

/** @param now a clock that nobody sets, milliseconds */
export const createLogBounds = (now: () => number): LogBounds => {
  const texts = new Map<string, Repeated>()
  let minuteStart = -Infinity
  let inMinute = 0
  let leftOfMinute = 0

  /** How many lines of this text were left out since the last one; null: this one is left out too. */
  const leftOf = (kind: string, at: number): number | null => {
    let knownText = texts.get(kind)
    if (!knownText || at - knownText.seenAt >= longestPause)
      knownText = { lines: 0, left: 0, pause: firstPause, nextAt: at, seenAt: at }
    knownText.seenAt = at
    // Texts that were seen lately are kept.
    texts.delete(kind)
    texts.set(kind, knownText)
    for (const oldest of texts.keys()) {
      if (texts.size <= mostTexts) break
      texts.delete(oldest)
    }
    if (at < knownText.nextAt) {
      knownText.left += 1
      return null
    }
    knownText.lines += 1
    if (knownText.lines >= freely) {
      knownText.nextAt = at + knownText.pause
      knownText.pause = Math.min(knownText.pause * 2, longestPause)
    }
    const { left } = knownText
    knownText.left = 0
    return left
  }

  return {
    admit(text, isRepeatable) {
      const at = now()
      const left = isRepeatable ? 0 : leftOf(kindOf(text), at)
      if (left === null) return []
      const before: string[] = []
      if (at - minuteStart >= minute) {
        if (leftOfMinute > 0)
          before.push(`${leftOfMinute} lines were left out, since a minute has ${perMinute} at most`)
        minuteStart = at
        inMinute = 0
        leftOfMinute = 0
      }
      if (inMinute >= perMinute) {
        leftOfMinute += 1 + left
        return []
      }
      inMinute += 1
      return [...before, left === 0 ? text : `${text} (and ${left} times since this was last written)`]
    },
  }
}
