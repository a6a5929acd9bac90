import { expect, test } from 'vitest'
import { backupName, backupsAmong, backupsToRemove, lastDue } from './plan.ts'

const day = 86_400_000
const at = (text: string) => new Date(text).getTime()

test('a backup is due once a day, at its time in the zone of the server', () => {
  const time = { hour: 3, minute: 17 }
  // Without a zone in the text: local time.
  expect(lastDue(at('2026-11-23T03:16:59'), time)).toBe(at('2026-11-22T03:17:00'))
  expect(lastDue(at('2026-11-23T03:17:00'), time)).toBe(at('2026-11-23T03:17:00'))
  expect(lastDue(at('2026-11-23T23:59:00'), time)).toBe(at('2026-11-23T03:17:00'))
})

test('names tell the time, and other files are left alone', () => {
  const name = backupName(at('2026-11-23T03:17:04.250Z'), false)
  expect(name).toBe('stockade-20261123T031704Z.gz')
  expect(backupName(0, true)).toBe('stockade-19700101T000000Z.age')
  const others = [
    'notes.txt',
    'stockade-20261123T031704Z.gz.part',
    'stockade-2026.gz',
    'my-stockade-20261123T031704Z.gz',
  ]
  expect(backupsAmong([...others, name])).toEqual([{ name, at: at('2026-11-23T03:17:04Z') }])
  expect(backupsToRemove(others)).toEqual([])
})

test('7 days, 4 weeks and 6 months stay, the newest of each', () => {
  const last = at('2026-11-23T03:17:00Z')
  const daily = Array.from({ length: 400 }, (_, age) => backupName(last - age * day, age % 2 === 0))
  const removed = new Set(backupsToRemove(daily))
  const staying = daily.filter(name => !removed.has(name)).map(name => name.slice(9, 17))
  expect(staying).toEqual([
    // Seven days; the 23rd is a Monday, so the 22nd ends the week before.
    ...['20261123', '20261122', '20261121', '20261120', '20261119', '20261118', '20261117'],
    // The last days of two more weeks, and of five more months.
    ...['20261115', '20261108', '20261031', '20260930', '20260831', '20260731', '20260630'],
  ])
  // As the days go by and each is thinned out, the older ones are still there.
  let files: string[] = []
  for (let age = 399; age >= 0; age--) {
    files = [...files, backupName(last - age * day, false)]
    const gone = new Set(backupsToRemove(files))
    files = files.filter(name => !gone.has(name))
  }
  expect(files.map(name => name.slice(9, 17)).reverse()).toEqual(staying)
})
