import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { allFaults, areas } from '../planted/faults/index.ts'
import { sampleFaults } from '../planted/sample.ts'
import { root } from './sources.ts'

/* Sources change: a fault of `npm run planted` that no longer applies must be adapted or replaced. */

test('what a fault changes stands in its file exactly once', () => {
  const texts = new Map(allFaults.map(({ file }) => [file, readFileSync(join(root, file), 'utf8')]))
  const counts = allFaults.map(({ file, find }) => ({
    file,
    find,
    times: (texts.get(file) ?? '').split(find).length - 1,
  }))
  expect(counts.filter(({ times }) => times !== 1)).toEqual([])
})

test('each fault changes something, is told in a sentence, and is there once', () => {
  for (const { file, find, replace, says } of allFaults) {
    expect(replace, file).not.toBe(find)
    expect(says, file).toMatch(/^[A-Z].*[^.]\.$/)
  }
  expect(new Set(allFaults.map(({ file, find }) => `${file} ${find}`)).size).toBe(allFaults.length)
})

test('there are faults in every feature of the server, and in all other parts, in the sample too', () => {
  const folders = readdirSync(join(root, 'packages/server/src/features'), { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(({ name }) => `packages/server/src/features/${name}/`)
  expect(folders.length).toBeGreaterThan(30)
  expect(folders.filter(folder => !allFaults.some(({ file }) => file.startsWith(folder)))).toEqual([])
  const sample = [...sampleFaults]
  expect(folders.filter(folder => !sample.some(({ file }) => file.startsWith(folder)))).toEqual([])
  expect(sample).toHaveLength(folders.length + 15 + 10 + 5)
  expect(allFaults.length).toBeGreaterThanOrEqual(75)
  expect(areas.agent.length).toBeGreaterThanOrEqual(15)
  expect(areas.dashboard.length).toBeGreaterThanOrEqual(10)
  expect(areas['contract, command line, client'].length).toBeGreaterThanOrEqual(5)
})
