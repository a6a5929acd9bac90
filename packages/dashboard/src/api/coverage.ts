import type { ProblemBody } from '@stockade/contract'
import { createQuestion } from './question.ts'
import { sealing } from './sealing.ts'

/* The server refuses a whitelist that covers too much of the Internet, with the figure. An administrator who types the figure may go on. */

export type Coverage = NonNullable<ProblemBody['coverage']>
const question = createQuestion<Coverage, boolean>(false)
export const useCoverageAsked = question.useAsked
export const refuseCoverage = question.refuse

const coverageOf = async (reply: Response): Promise<Coverage | null> => {
  if (reply.status !== 409) return null
  const body = (await reply
    .clone()
    .json()
    .catch(() => null)) as ProblemBody | null
  return body?.coverage ?? null
}

/** Sends a request, and once more with `confirm_share` after somebody confirmed the share that the whitelist would cover. */
export const confirming: typeof fetch = async (input, init) => {
  const reply = await sealing(input, init)
  const coverage = await coverageOf(reply)
  if (!coverage || typeof init?.body !== 'string' || !(await question.ask(coverage))) return reply
  const body = { ...(JSON.parse(init.body) as object), confirm_share: coverage.percent }
  return sealing(input, { ...init, body: JSON.stringify(body) })
}
