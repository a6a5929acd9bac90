import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createNftListings } from '../src/protection/firewall/nft-listings.ts'

let directory: string
let generation: number | null

beforeEach(() => {
  directory = fs.mkdtempSync(join(tmpdir(), 'stockade-nft-'))
  generation = 1
})
afterEach(() => fs.rmSync(directory, { recursive: true, force: true }))

/** A program that notes each start and says what it was asked. */
const build = () => {
  const starts = join(directory, 'starts')
  fs.writeFileSync(starts, '')
  const nft = createNftListings({
    nft: ['/bin/sh', '-c', `echo . >> ${starts}; echo "$@"; [ "$1" != fail ]`, 'nft'],
    generation: () => generation,
  })
  return { nft, starts: (): number => fs.readFileSync(starts, 'utf8').length / 2 }
}

it('starts the program again only for another question or another generation', async () => {
  const { nft, starts } = build()
  expect((await nft(['list', 'set', 'a'])).stdout).toBe('list set a\n')
  expect((await nft(['list', 'set', 'a'])).stdout).toBe('list set a\n')
  expect(starts()).toBe(1)
  await nft(['list', 'set', 'b'])
  expect(starts()).toBe(2)
  generation = 2
  await nft(['list', 'set', 'a'])
  expect(starts()).toBe(3)
})

it('starts it each time where a listing can change by itself, fails, or the kernel cannot be asked', async () => {
  const { nft, starts } = build()
  for (let turn = 0; turn < 2; turn += 1) await nft(['list', 'elements', 'timeout', '5s'])
  expect(starts()).toBe(2)
  for (let turn = 0; turn < 2; turn += 1) await nft(['-t', 'list', 'flags', 'timeout'])
  expect(starts()).toBe(3)
  for (let turn = 0; turn < 2; turn += 1) expect((await nft(['fail'])).code).toBe(1)
  expect(starts()).toBe(5)
  generation = null
  for (let turn = 0; turn < 2; turn += 1) await nft(['list', 'set', 'a'])
  expect(starts()).toBe(7)
})
