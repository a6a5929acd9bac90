import type { JailPreviewResult } from '@stockade/contract/command-types/jail-preview.ts'
import { isOneOf, recordOf } from '@stockade/contract/untrusted.ts'

const cuts = ['bytes', 'entries', 'cpu', 'addresses'] as const

type Address = Pick<
  JailPreviewResult['addresses'][number],
  'ip' | 'failures' | 'banned_at' | 'whitelisted' | 'signed_in_at'
>
/** What a server answers to the commands `jail-preview` and `template-preview`, as far as it is shown. */
export interface Preview {
  readonly banned: number
  readonly whitelisted: number
  readonly signedIn: number
  readonly lines: number
  readonly cut: (typeof cuts)[number] | null
  readonly addresses: readonly Address[]
}

/** What an agent adds to the output of a signed command. */
const signature = / \(signed by [^)]*\)$/

/** Null where the server answered with a sentence, or with what this page does not know. A server is not trusted. */
export const readPreview = (output: string): Preview | null => {
  try {
    const { banned, whitelisted, signed_in, addresses, log } = recordOf(JSON.parse(output.replace(signature, '')))
    const { lines, cut } = recordOf(log)
    if (!Array.isArray(addresses)) return null
    return {
      banned: count(banned),
      whitelisted: count(whitelisted),
      signedIn: count(signed_in),
      lines: count(lines),
      cut: isOneOf(cuts, cut) ? cut : null,
      addresses: addresses.slice(0, 200).map(readAddress),
    }
  } catch {
    return null
  }
}

const readAddress = (value: unknown): Address => {
  const { ip, failures, banned_at, whitelisted, signed_in_at } = recordOf(value)
  if (typeof ip !== 'string' || !isTime(banned_at)) throw new Error('an unknown address')
  return {
    ...{ ip, failures: count(failures), banned_at, whitelisted: whitelisted === true },
    signed_in_at: isTime(signed_in_at) ? signed_in_at : null,
  }
}

const count = (value: unknown): number => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw new Error('no count')
  return value
}
const isTime = (value: unknown): value is string => typeof value === 'string' && !Number.isNaN(Date.parse(value))
