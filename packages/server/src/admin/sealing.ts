import { createReadStream, existsSync, openSync, readFileSync, readSync, closeSync } from 'node:fs'
import { Readable } from 'node:stream'
import { errorText } from '@stockade/contract/error-code.ts'
import { Decrypter, Encrypter } from 'age-encryption'
import { conflict } from '../core/problem.ts'

/*
 * Backups are files of age (age-encryption.org/v1), which any age program opens: to a recipient, whose key is elsewhere, or to a
 * passphrase. The format authenticates what it holds, piece by piece.
 */

/** How a backup is kept secret; null: not at all. */
export type Lock = { readonly recipient: string } | { readonly passphrase: string } | null
/** What opens one. */
export type Opener = { readonly identity: string } | { readonly passphrase: string } | null

const mark = 'age-encryption.org/v1'

/** Text of a file that holds one secret; comments of age's key files are left out. */
export const secretOf = (file: string): string => {
  if (!existsSync(file)) throw conflict(`There is no file ${file}.`)
  const secret = readFileSync(file, 'utf8')
    .split('\n')
    .map(line => line.trim())
    .find(line => line !== '' && !line.startsWith('#'))
  if (!secret) throw conflict(`${file} is empty.`)
  return secret
}
/** Refuses what is no recipient, before anything is written. */
export const encrypterFor = (lock: NonNullable<Lock>): Encrypter => {
  const encrypter = new Encrypter()
  try {
    if ('recipient' in lock) encrypter.addRecipient(lock.recipient)
    else encrypter.setPassphrase(lock.passphrase)
  } catch {
    throw conflict('This is no recipient of age: it begins with age1. age-keygen makes one.')
  }
  return encrypter
}
const webOf = (source: Readable): ReadableStream<Uint8Array> => Readable.toWeb(source)

/** Encrypts what passes through. */
export const seal = (lock: Lock) =>
  async function* (source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    if (lock === null) return yield* source
    const sealed = await encrypterFor(lock).encrypt(webOf(Readable.from(source)))
    yield* sealed
  }

const isSealed = (file: string): boolean => {
  const handle = openSync(file, 'r')
  try {
    const head = Buffer.alloc(mark.length)
    readSync(handle, head, 0, head.length, 0)
    return head.toString('latin1') === mark
  } finally {
    closeSync(handle)
  }
}
/**
 * Refuses a plain file where an encrypted one is expected. Anybody with write access to the backup folder could have replaced it.
 * @throws Problem 409
 */
export const refusePlain = (file: string, opener: Opener): void => {
  if (opener === null || isSealed(file)) return
  throw conflict(
    `${file} is not encrypted, though a key or passphrase was given: somebody may have put it in place of the backup. Nothing was changed. If it is yours, run this again without ${'identity' in opener ? '--identity' : '--passphrase-file'}.`,
  )
}
/** The content of a backup, decrypted where it is encrypted. @throws Problem 409 where it can't be opened, or was changed */
export async function* opened(file: string, opener: Opener): AsyncGenerator<Uint8Array> {
  refusePlain(file, opener)
  const input = createReadStream(file)
  if (!isSealed(file)) return yield* input
  if (opener === null)
    throw conflict('This backup is encrypted. Say what opens it: --identity FILE or --passphrase-file FILE.')
  const decrypter = new Decrypter()
  try {
    if ('identity' in opener) decrypter.addIdentity(opener.identity)
    else decrypter.addPassphrase(opener.passphrase)
    const plain = await decrypter.decrypt(webOf(input))
    yield* plain
  } catch (error) {
    const why = errorText(error)
    throw conflict(
      /identit|passphrase|recipient|stanza/i.test(why)
        ? 'This key or passphrase does not open the backup. Nothing was changed.'
        : 'This is no complete backup: it was cut or changed. Nothing was changed.',
    )
  } finally {
    input.destroy()
  }
}
