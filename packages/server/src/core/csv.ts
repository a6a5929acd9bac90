/** What a spreadsheet takes for a formula when a cell begins with it; some remove quotes, so those count through. */
export const formula = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/
const escaped = (text: string) => (formula.test(text) ? `'${text}` : text)
const cell = (text: string) => (/[",;\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** A line of CSV (RFC 4180) whose cells no spreadsheet runs. */
export const csvRow = (cells: readonly string[]): string => `${cells.map(text => cell(escaped(text))).join(',')}\r\n`
