import * as fs from 'node:fs'
import { readOr } from '@stockade/contract/untrusted.ts'
import { canonicalIp, fromKey } from '../../ip.ts'
import type { LoginSource } from './logins.ts'

/* btmp and wtmp, in which sshd itself notes failed and accepted logins: records of utmp(5). */

/** Where the fields of a record stand, in bytes. */
interface Layout {
  readonly size: number
  readonly address: number
}
/** With times of 32 bits, which glibc keeps on x86-64 and others for the sake of old files. */
const narrow: Layout = { size: 384, address: 348 }
const wide: Layout = { size: 400, address: 360 }
const wideArchitectures: readonly string[] = ['arm64', 'riscv64', 'loong64']

/** Types of records: sshd writes a failed login as `LOGIN_PROCESS`, a session as `USER_PROCESS`. */
const loginProcess = 6
const userProcess = 7
const addressBytes = 16

/** Records of one look, 400 KB at most. */
const mostRecords = 1000

const endOf = (field: Buffer): number => (field.includes(0) ? field.indexOf(0) : field.length)
const textOf = (field: Buffer): string => field.toString('latin1', 0, endOf(field))

/** Programs that note an IPv4 address leave the last twelve bytes empty. */
const addressOf = (record: Buffer, { address }: Layout): string | null => {
  const bytes = record.subarray(address, address + addressBytes)
  if (bytes.every(byte => byte === 0)) return null
  return canonicalIp(fromKey(bytes.subarray(4).every(byte => byte === 0) ? bytes.subarray(0, 4) : bytes))
}

/** The addresses of the records of one type, of the terminals that a program uses. */
const addressesOf = (records: Buffer, layout: Layout, type: number, isOurs: (line: string) => boolean): string[] => {
  const addresses: string[] = []
  for (let at = 0; at + layout.size <= records.length; at += layout.size) {
    const record = records.subarray(at, at + layout.size)
    if (record.readInt16LE(0) !== type || !isOurs(textOf(record.subarray(8, 40)))) continue
    const address = addressOf(record, layout)
    if (address !== null) addresses.push(address)
  }
  return addresses
}

/**
 * Reads the whole records that a file gained since the last time, the newest ones where there are many. A file that was rotated, replaced or cut is
 * read from its end: records of unknown age must not count.
 */
const createRecordTail = (path: string, { size }: Layout): (() => Buffer) => {
  let place: { readonly inode: number; readonly at: number } | null = null
  return () => {
    const stat = fs.statSync(path, { throwIfNoEntry: false })
    if (!stat?.isFile()) {
      place = null
      return Buffer.alloc(0)
    }
    const end = stat.size - (stat.size % size)
    const start = place?.inode === stat.ino && place.at <= end ? place.at : end
    place = { inode: stat.ino, at: end }
    return start === end ? Buffer.alloc(0) : readPart(path, Math.max(start, end - mostRecords * size), end)
  }
}

const readPart = (path: string, start: number, end: number): Buffer => {
  const file = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK)
  try {
    const buffer = Buffer.alloc(end - start)
    return buffer.subarray(0, fs.readSync(file, buffer, 0, buffer.length, start))
  } finally {
    fs.closeSync(file)
  }
}

/** Logins of SSH in btmp and wtmp. A file that is missing or cannot be read has none. */
export const createUtmpLogins = ({
  btmp = '/var/log/btmp',
  wtmp = '/var/log/wtmp',
  architecture = process.arch as string,
} = {}): LoginSource => {
  const layout = wideArchitectures.includes(architecture) ? wide : narrow
  const failures = createRecordTail(btmp, layout)
  const sessions = createRecordTail(wtmp, layout)
  const read = (tail: () => Buffer): Buffer => readOr(Buffer.alloc(0), tail)
  return () =>
    Promise.resolve({
      // sshd writes `ssh:notty`. A failed login at the console has the name of its terminal.
      failed: addressesOf(read(failures), layout, loginProcess, line => line.startsWith('ssh')),
      accepted: addressesOf(read(sessions), layout, userProcess, () => true),
    })
}
