import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { printPlace, printTable } from '../src/print.ts'

let written = ''
beforeEach(() => {
  written = ''
  vi.stubEnv('NO_COLOR', '')
  vi.stubEnv('TERM', 'xterm')
  vi.spyOn(process.stdout, 'write').mockImplementation(text => {
    written += String(text)
    return true
  })
})
const terminal = Object.getOwnPropertyDescriptor(process.stdout, 'isTTY')
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  Object.defineProperty(process.stdout, 'isTTY', terminal ?? { value: undefined, configurable: true })
})
const onTerminal = (value: boolean) => Object.defineProperty(process.stdout, 'isTTY', { value, configurable: true })
const table = () =>
  printTable(
    ['NAME', 'STATUS', 'BANS'],
    [
      ['東京', 'online', 7],
      ['web-01', 'offline', 1234],
      ['', null, null],
    ],
  )
const plain = 'NAME    STATUS   BANS\n東京      online      7\nweb-01  offline  1234\n-       -           -\n'

test('columns are as wide as their widest cell, numbers stand right, the unknown is a dash', () => {
  onTerminal(false)
  table()
  expect(written).toBe(plain)
})
test('on a terminal states have a colour, and the columns stay where they are', () => {
  onTerminal(true)
  table()
  expect(written).toContain('\u001b[32monline\u001b[39m   ')
  expect(written).toContain('\u001b[31moffline\u001b[39m')
  // oxlint-disable-next-line no-control-regex -- the colours are what is taken away
  expect(written.replace(/\u001b\[\d+m/g, '')).toBe(plain)
})
test.each([
  ['NO_COLOR', '1'],
  ['TERM', 'dumb'],
])('%s=%s takes the colours away', (name, value) => {
  onTerminal(true)
  vi.stubEnv(name, value)
  table()
  expect(written).toBe(plain)
})
test.each([
  [{ total: 51, page: 1, limit: 50 }, 50, '50 of 51 bans; more with --page 2'],
  [{ total: 51, page: 2, limit: 50 }, 1, '1 of 51 bans'],
  [{ total: 100, page: 2, limit: 50 }, 50, '50 of 100 bans'],
])('a list says whether a page follows: %j', (list, shown, said) => {
  printPlace('bans', list, shown)
  expect(written).toBe(`\n${said}\n`)
})
