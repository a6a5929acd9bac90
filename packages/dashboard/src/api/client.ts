import { ApiError, createClient } from '@stockade/client'
import type { ProblemReason } from '@stockade/contract'
import { ownAddress } from '../lib/place.ts'
import { confirming } from './coverage.ts'

/** The typed client; the session cookie speaks for the user. */
export const api = createClient({ baseUrl: ownAddress, fetch: confirming })

export { ApiError }

/** The code of a refusal, by which a page decides what it offers; null where nothing was refused. */
export const reasonOf = (error: unknown): ProblemReason | null => (error instanceof ApiError ? error.reason : null)

export const statusOf = (error: unknown): number | null => (error instanceof ApiError ? error.status : null)
