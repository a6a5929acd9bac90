import { ApiError, createClient } from '@stockade/client'
import { ownAddress } from '../place.ts'
import { proving } from './proof.ts'

/** The typed client; the session cookie speaks for the user. */
export const api = createClient({ baseUrl: ownAddress, fetch: proving })

export { ApiError }

export const statusOf = (error: unknown): number | null => (error instanceof ApiError ? error.status : null)
