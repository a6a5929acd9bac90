/* The table of `npm run check -- sabotage --table FILE`, from the lines of JSON that tests/engine/sabotage/table notes. */
import { readFileSync } from 'node:fs'

export const readRows = file =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line))

const cell = text => text.replaceAll('|', '\\|').replace(/\s+/g, ' ')
/** Addresses of the test's own network differ from run to run. */
const plain = words => cell(words).replace(/\b10\.\d+\.\d+\.2(?=:\d)/g, 'HOST')

const saidOf = ({ harm, told, words, wrong }) => {
  const said = told === null ? (harm === 'none' ? 'silent' : 'not told') : `${told} s`
  return [said, plain(words), wrong === null ? 'right' : `**wrong: ${plain(wrong)}**`]
}

/** @param rows what became of each row; @returns Markdown, with the counts in the last line */
export const tableText = rows => {
  const lines = rows.map(row => {
    const kind = { opens: 'lets in', blinds: 'bans nobody', none: 'no' }[row.harm]
    const over = row.over === null ? '' : `${row.over} s`
    return `| ${[cell(row.row), row.fail2ban, row.firewall, String(row.pace ?? ''), kind, ...saidOf(row), over].join(' | ')} |`
  })
  const harmful = rows.filter(({ harm }) => harm !== 'none')
  const wrong = rows.filter(row => row.wrong !== null)
  const slowest = Math.max(0, ...harmful.map(({ told }) => told ?? 0))
  return `${[
    'Pace: multiplies the intervals of the checks of the agent; 1 is a real host. A harmful row waits 60 s, a harmless one two rounds of the checks.',
    '',
    '| sabotage | fail2ban | firewall | pace | harm | told after | words | | over after |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...lines,
    '',
    `${new Set(rows.map(({ row }) => row)).size} sabotages, ${rows.length} runs: ${harmful.length} harmful (slowest told after ${slowest} s), ${rows.length - harmful.length} harmless; ${wrong.length} wrong.`,
  ].join('\n')}\n`
}
