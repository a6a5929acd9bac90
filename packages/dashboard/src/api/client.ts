import { ApiError, createClient } from '@stockade/client'
import { ownAddress } from '../place.ts'
import { noting } from './requests.ts'

/** The typed client; the session cookie speaks for the user. */
export const api = createClient({ baseUrl: ownAddress, fetch: noting })

export { ApiError }

export const statusOf = (error: unknown): number | null => (error instanceof ApiError ? error.status : null)
