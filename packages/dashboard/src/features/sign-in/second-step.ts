import { recordOf } from '@stockade/contract/untrusted.ts'
import { readStored } from '../../lib/stored.ts'

/* A sign-in that waits for its second factor. Phones may drop the page while the authenticator is open: it is kept for a reload. */

const place = 'stockade-second-step'
/** What the server allows one password: five minutes and five codes. */
export const allowed = { time: 5 * 60_000, tries: 5 } as const

export interface SecondStep {
  readonly token: string
  readonly since: number
  readonly tries: number
  readonly methods: readonly Method[]
}
const allMethods = ['totp', 'passkey'] as const
type Method = (typeof allMethods)[number]

export const secondStep = {
  begin(token: string, methods: readonly Method[]): void {
    sessionStorage.setItem(place, JSON.stringify({ token, since: Date.now(), tries: 0, methods } satisfies SecondStep))
  },
  read(): SecondStep | null {
    const { token, since, tries, methods } = recordOf(readStored('sessionStorage', place))
    if (typeof token !== 'string' || typeof since !== 'number' || typeof tries !== 'number') return null
    const knownMethods = Array.isArray(methods) ? allMethods.filter(method => methods.includes(method)) : []
    return { token, since, tries, methods: knownMethods.length > 0 ? knownMethods : ['totp'] }
  },
  /** Counts a wrong code; answers how many tries are left. */
  wrong(): number {
    const step = secondStep.read()
    if (!step) return 0
    sessionStorage.setItem(place, JSON.stringify({ ...step, tries: step.tries + 1 }))
    return Math.max(0, allowed.tries - step.tries - 1)
  },
  forget(): void {
    sessionStorage.removeItem(place)
  },
}

const wayBack = 'stockade-way-back'
/** Where to go after a provider's sign-in, which leads through another site and comes back to the start page. */
export const afterProvider = {
  keep(path: string | undefined): void {
    if (path) sessionStorage.setItem(wayBack, path)
    else sessionStorage.removeItem(wayBack)
  },
  take(): string | undefined {
    const path = sessionStorage.getItem(wayBack) ?? undefined
    sessionStorage.removeItem(wayBack)
    return path
  },
}

const lastWay = 'stockade-last-provider'
/** The provider that was used last on this device. */
export const lastProvider = {
  keep: (id: string): void => localStorage.setItem(lastWay, id),
  read: (): string | null => localStorage.getItem(lastWay),
}
