import { ApiError, createClient } from '@stockade/client'
import { ownAddress } from '../lib/place.ts'
import { confirming } from './coverage.ts'

/** The typed client; the session cookie speaks for the user. */
export const api = createClient({ baseUrl: ownAddress, fetch: confirming })

export { ApiError }

export const statusOf = (error: unknown): number | null => (error instanceof ApiError ? error.status : null)
