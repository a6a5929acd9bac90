import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { openMmdb } from '../features/ipinfo/mmdb.ts'
import { ownCityFile, ownNetworkFile } from '../features/ipinfo/own-files.ts'

/*
 * DB-IP's free data, a new edition each month (https://db-ip.com/db/lite.php), CC BY 4.0: the credit is shown wherever
 * places are. Any other MMDB file, compressed or not, can be named instead.
 */
const month = (at: Date) => at.toISOString().slice(0, 7)
export const sourceOf = (kind: 'city' | 'asn', at: Date): string =>
  `https://download.db-ip.com/free/dbip-${kind}-lite-${month(at)}.mmdb.gz`

const unzip = promisify(gunzip)
const largest = 1 << 30
const fetchAll = async (url: string): Promise<Buffer> => {
  const reply = await fetch(url, { signal: AbortSignal.timeout(600_000) })
  if (!reply.ok || !reply.body) throw new Error(`${url} answered ${reply.status}.`)
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of reply.body) {
    size += piece.length
    if (size > largest) throw new Error(`${url} sends more than a gigabyte; that is no such file.`)
    pieces.push(piece)
  }
  const data = Buffer.concat(pieces)
  return data[0] === 0x1f && data[1] === 0x8b ? unzip(data, { maxOutputLength: largest }) : data
}
/** Puts a checked file into its place in one step: a server that runs reads the old one or the new one, never half of it. */
const put = (file: string, data: Buffer) => {
  const fresh = `${file}.new`
  try {
    writeFileSync(fresh, data, { mode: 0o644 })
    renameSync(fresh, file)
  } finally {
    rmSync(fresh, { force: true })
  }
}

/**
 * Fetches city and network data into the data folder, where the server finds them by itself.
 * @returns one line a file, of what it is
 * @throws Error when an address does not answer or what it sends is no MMDB file; then the file before stays
 */
export async function* updateGeoip(
  dataDir: string,
  urls: { readonly city?: string; readonly asn?: string },
  now = new Date(),
): AsyncGenerator<string> {
  mkdirSync(join(dataDir), { recursive: true, mode: 0o700 })
  const files = [
    [urls.city ?? sourceOf('city', now), ownCityFile(dataDir)],
    [urls.asn ?? sourceOf('asn', now), ownNetworkFile(dataDir)],
  ] as const
  for (const [url, file] of files) {
    const data = await fetchAll(url)
    let label: string
    try {
      label = openMmdb(data).label
    } catch {
      throw new Error(`${url} is no MMDB file.`)
    }
    put(file, data)
    yield `${label}, ${Math.round(data.length / 1e6)} MB, is in ${file}`
  }
}
