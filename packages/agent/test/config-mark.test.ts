import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../server/src/testing/waiting.ts'
import { createMark } from '../src/engine/config.ts'

const folder = (): string => {
  const directory = fs.mkdtempSync(join(tmpdir(), 'stockade-mark-'))
  onTestFinished(() => fs.rmSync(directory, { recursive: true, force: true }))
  fs.mkdirSync(join(directory, 'jail.d'))
  return directory
}

/** The next change of the folder gets another time stamp. */
const passStamp = (directory: string): Promise<void> =>
  eventually(() => {
    const probe = join(tmpdir(), `stockade-stamp-${process.pid}`)
    fs.writeFileSync(probe, '')
    const { ctimeMs } = fs.statSync(probe)
    fs.rmSync(probe)
    expect(ctimeMs).toBeGreaterThan(fs.statSync(directory).ctimeMs)
  })

it.each([
  ['lists a folder again after a change', 10_000],
  ['lists a folder each time while its time stamp is new', 0],
])('the mark of the configuration %s', async (_, later) => {
  const directory = folder()
  const jails = join(directory, 'jail.d')
  const mark = createMark(directory, () => Date.now() + later)
  const marks = [mark()]
  const after = async (change: () => void): Promise<void> => {
    await passStamp(jails)
    change()
    marks.push(mark())
    expect(mark()).toBe(marks.at(-1))
  }
  await after(() => fs.writeFileSync(join(jails, 'a.local'), '[sshd]\n'))
  await after(() => fs.writeFileSync(join(jails, 'a.local'), '[sshd]\nenabled = true\n'))
  await after(() => fs.renameSync(join(jails, 'a.local'), join(jails, 'b.local')))
  await after(() => fs.writeFileSync(join(directory, 'jail.local'), ''))
  await after(() => fs.rmSync(join(jails, 'b.local')))
  expect(new Set(marks).size).toBe(marks.length)
  await passStamp(jails)
  fs.writeFileSync(join(jails, 'README'), '')
  expect(mark()).toBe(marks.at(-1))
})
