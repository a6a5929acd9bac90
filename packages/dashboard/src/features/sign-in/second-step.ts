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
type Method = 'totp' | 'passkey'

export const secondStep = {
  begin(token: string, methods: readonly Method[]): void {
    sessionStorage.setItem(place, JSON.stringify({ token, since: Date.now(), tries: 0, methods } satisfies SecondStep))
  },
  read(): SecondStep | null {
    try {
      const kept = JSON.parse(sessionStorage.getItem(place) ?? 'null') as Partial<SecondStep> | null
      return typeof kept?.token === 'string' && typeof kept.since === 'number' && typeof kept.tries === 'number'
        ? { token: kept.token, since: kept.since, tries: kept.tries, methods: kept.methods ?? ['totp'] }
        : null
    } catch {
      return null
    }
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
