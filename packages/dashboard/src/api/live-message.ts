import type { LiveMessage } from '@stockade/contract'
import { isRecord } from '@stockade/contract/untrusted.ts'
import { parsed } from '../lib/stored.ts'

/** The server writes messages by the contract: `data` is what its type says. A newer server may send types that nobody here listens to. */
const isMessage = (value: unknown): value is LiveMessage =>
  isRecord(value) && (value.type === 'resync' || value.type === 'pulse' || isRecord(value.data))

/** A message of the live feed; null for what is none. */
export const readMessage = (text: string): LiveMessage | null => {
  const message = parsed(text)
  return isMessage(message) ? message : null
}
