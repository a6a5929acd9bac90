import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readTable, tableStart } from '../src/bans/table.ts'
import type { Cursor } from '../src/bans/table.ts'
import { createInterpreter } from '../src/python/interpreter.ts'
import { reader } from '../src/python/programs.ts'

const pythonProgram = ['/usr/bin/python3', '/usr/local/bin/python3'].find(path => fs.existsSync(path))
if (!pythonProgram) process.stderr.write('\n!!! SKIPPED: the table reader: no python3 here\n\n')

let directory = ''
let file = ''

beforeEach(() => {
  directory = fs.mkdtempSync(join(tmpdir(), 'stockade-table-'))
  file = join(directory, 'a b?c#d%.sqlite3')
})
afterEach(() => fs.rmSync(directory, { recursive: true, force: true }))

/** Changes the table as fail2ban does, with the same adapters. */
const sql = (script: string): void => {
  execFileSync(
    pythonProgram ?? 'python3',
    [
      '-c',
      'import sqlite3,sys\ndb=sqlite3.connect(sys.argv[1])\ndb.executescript(sys.stdin.read())\ndb.commit()',
      file,
    ],
    {
      input: script,
    },
  )
}

const createTable =
  'create table bans(jail text not null, ip text, timeofban integer not null, bantime integer not null, bancount integer not null default 1, data json);'

const insert = (ip: string, time: number, data = '{"matches": ["line"], "failures": 3}'): string =>
  `insert into bans values('sshd', '${ip}', ${time}, 600, 1, '${data.replaceAll("'", "''")}');`

const read = (cursor: Cursor) => readTable(createInterpreter([pythonProgram ?? 'python3']), reader, file, cursor)

describe.skipIf(!pythonProgram)('the cursor over the ban table', () => {
  it('reads the tail, and nothing twice', async () => {
    sql(createTable + insert('203.0.113.1', 100) + insert('203.0.113.2', 101))
    const first = await read(tableStart)
    expect(first.rows.map(row => row.ip)).toEqual(['203.0.113.1', '203.0.113.2'])
    expect(first.end).toEqual({ last: 2, key: ['sshd', '203.0.113.2', 101] })
    expect((await read(first.end)).rows).toEqual([])
    expect((await read(first.end)).end).toEqual(first.end)
    sql(insert('203.0.113.3', 102))
    expect((await read(first.end)).rows).toEqual([
      { jail: 'sshd', ip: '203.0.113.3', time: 102, bantime: 600, failures: 3, logLines: 'line' },
    ])
  })

  it('reads all again when the last row is gone or its number was reused', async () => {
    sql(createTable + insert('203.0.113.1', 100) + insert('203.0.113.2', 101))
    const { end } = await read(tableStart)
    sql("delete from bans where ip = '203.0.113.2'")
    expect((await read(end)).rows.map(row => row.ip)).toEqual(['203.0.113.1'])
    sql(insert('203.0.113.9', 105))
    const reused = await read(end)
    expect(reused.rows.map(row => row.ip)).toEqual(['203.0.113.1', '203.0.113.9'])
    expect(reused.end).toEqual({ last: 2, key: ['sshd', '203.0.113.9', 105] })
    sql('delete from bans')
    expect(await read(reused.end)).toEqual({ rows: [], end: tableStart, more: false })
  })

  it('is cut at its limit and goes on from there', async () => {
    sql(
      'begin;' +
        createTable +
        Array.from({ length: 4500 }, (_, i) => insert(`10.0.${i >> 8}.${i & 255}`, i)).join('') +
        'commit;',
    )
    const sizes: number[] = []
    let cursor = tableStart
    for (let more = true; more;) {
      const part = await read(cursor)
      sizes.push(part.rows.length)
      cursor = part.end
      more = part.more
    }
    expect(sizes).toEqual([2000, 2000, 500])
  })

  it('reads hostile data', async () => {
    const long = JSON.stringify({ matches: [['a', ' b ', 'c'], 'x'.repeat(20_000), 'é'.repeat(10)], failures: 5 })
    sql(
      createTable +
        insert('203.0.113.1', 1, long) +
        insert('203.0.113.2', 2, 'not json') +
        insert('203.0.113.3', 3, '[]') +
        insert('203.0.113.4', 4, '{"matches": "text", "failures": "many"}'),
    )
    sql(
      "insert into bans values(cast(x'ff00fe' as text), cast(x'c328' as text), 5, -1, 1, cast(x'7b226d617463686573223a5b22ff225d7d' as text))",
    )
    sql("insert into bans values('sshd', '203.0.113.6', 6, 600, 1, null)")
    const { rows } = await read(tableStart)
    expect(rows).toHaveLength(6)
    expect(rows[0]?.logLines.endsWith(`\n${'é'.repeat(10)}`)).toBe(true)
    expect(Buffer.byteLength(rows[0]?.logLines ?? '')).toBeLessThanOrEqual(4 * 1024)
    expect(rows.slice(1, 4).map(({ failures, logLines }) => ({ failures, logLines }))).toEqual(
      Array(3).fill({ failures: 0, logLines: '' }),
    )
    expect(rows[4]).toMatchObject({ bantime: -1, failures: 0, logLines: '\ufffd' })
  })

  it('keeps the beginning and the end of each line, however long it is', async () => {
    const line = (n: number) =>
      `Nov 28 09:00:0${n} host sshd[9]: Failed password for ${'u'.repeat(100_000)} from 203.0.113.1 port ${n}`
    sql(createTable + insert('203.0.113.1', 1, JSON.stringify({ matches: [1, 2, 3].map(line), failures: 3 })))
    const { rows } = await read(tableStart)
    const lines = rows[0]?.logLines.split('\n') ?? []
    expect(lines.map(text => [text.slice(0, 29), text.slice(-25), text.length])).toEqual(
      [1, 2, 3].map(n => [`Nov 28 09:00:0${n} host sshd[9]:`, `u from 203.0.113.1 port ${n}`, 501]),
    )
  })

  it('says what is wrong with a file that is no table', async () => {
    await expect(read(tableStart)).rejects.toThrow(/unable to open/)
    sql('create table other(x)')
    await expect(read(tableStart)).rejects.toThrow(/no such table/)
  })
})
