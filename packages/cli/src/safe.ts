/**
 * Hosts, log files and people choose much of what is printed here, and a terminal obeys what it is shown. Control and
 * format characters (C0, DEL, C1, and those that turn the direction of text) never reach one.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu

/** Text for one line: whatever is not to be seen becomes a mark, line breaks and tabs a space. */
export const safe = (text: string): string => text.replace(/\r\n|[\n\r\t]/g, ' ').replace(unseen, '\ufffd')

/** Text of several lines: the breaks stay. */
export const safeLines = (text: string): string =>
  text
    .split(/\r\n|\n/)
    .map(safe)
    .join('\n')

/** The same JSON, with every such character written as an escape, so that it is safe to show and complete to parse. */
export const safeJson = (value: unknown): string =>
  JSON.stringify(value, null, 2).replace(/[^\S\n ]|[\p{Cc}\p{Cf}\u2028\u2029]/gu, character =>
    character === '\n'
      ? character
      : Array.from(
          { length: character.length },
          (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
        ).join(''),
  )
