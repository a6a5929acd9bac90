/**
 * A text of a stranger, cut to what a person would read; control and direction characters, which could make a line lie
 * about its order, are shown as their code. Whole code points: a cut never leaves half of one.
 */
export const clip = (text: string, most = 300): { readonly shown: string; readonly cut: boolean } => {
  const points = text.length > most ? [...text.slice(0, most * 2)] : [...text]
  return { shown: points.slice(0, most).map(visible).join(''), cut: points.length > most || text.length > most * 2 }
}

const hidden = /(?![\t\n])[\p{Cc}\p{Cf}\u2028\u2029]/u
const visible = (point: string) =>
  hidden.test(point) ? `\\u${(point.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}` : point

/** Log lines split at an address, so that it can be marked: every second part is the address. */
export const around = (text: string, address: string): readonly string[] => {
  if (!address) return [text]
  // Not within a longer address: 192.0.2.1 is no part of 192.0.2.10.
  const escaped = address.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return text.split(new RegExp(`(?<![\\w.:])(${escaped})(?![\\w:]|\\.\\d)`, 'i'))
}

/** A host's name within a sentence, a title or a choice, where nothing else can isolate it. */
export const nameOf = (hostname: string): string => {
  const { shown, cut } = clip(hostname, 60)
  return cut ? `${shown}…` : shown
}
