import { endpointNames } from '@stockade/contract'
import * as contract from '@stockade/contract'
import { allSources } from '../tests/house/sources.ts'

/*
 * `npm run make -- routes [-- TEXT]`: every endpoint with who may call it, where the contract declares it, and which routes serve it. With a text,
 * only lines that contain it.
 */

/** The files of the server that serve each endpoint, by its name. */
const served = new Map()
for (const { path, text } of allSources().filter(({ path }) => /^packages\/server\/src\/(?!.*\.test\.ts$)/.test(path)))
  for (const [, name] of text.matchAll(/\.serve\(\s*(?:\w+\.)?(\w+)/g))
    served.set(name, [...(served.get(name) ?? []), path.replace('packages/server/src/', '')])

/** The module of the contract that exports an endpoint. */
const roomOf = endpoint =>
  Object.entries(contract).find(
    ([, room]) =>
      typeof room === 'object' && room !== null && !Array.isArray(room) && Object.values(room).includes(endpoint),
  )?.[0] ?? ''

const rows = [...endpointNames].map(([endpoint, name]) => [
  `${endpoint.method} ${endpoint.path}`,
  endpoint.access,
  `${roomOf(endpoint)}.ts: ${name}`,
  (served.get(name) ?? []).join(', '),
])
const wanted = process.argv[2]?.toLowerCase()
const shown = rows.filter(cells => wanted === undefined || cells.join(' ').toLowerCase().includes(wanted))
const widths = [0, 1, 2].map(column => Math.max(0, ...shown.map(cells => cells[column].length)))
for (const cells of shown)
  process.stdout.write(
    `${cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()}\n`,
  )
