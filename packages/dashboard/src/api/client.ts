import { ApiError, createClient } from '@stockade/client'
import { ownAddress } from '../place.ts'
import { sealing } from './sealing.ts'

/** The typed client; the session cookie speaks for the user. */
export const api = createClient({ baseUrl: ownAddress, fetch: sealing })

export { ApiError }

export const statusOf = (error: unknown): number | null => (error instanceof ApiError ? error.status : null)
