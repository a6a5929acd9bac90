import type { ProblemBody } from '@stockade/contract'
import { recordOf } from '@stockade/contract/untrusted.ts'
import { createQuestion } from './question.ts'
import { refusalIn } from './refusal.ts'
import { sealing } from './sealing.ts'

/* The server refuses a whitelist that covers too much of the Internet, with the figure. An administrator who types the figure may go on. */

export type Coverage = NonNullable<ProblemBody['coverage']>
const question = createQuestion<Coverage, boolean>(false)
export const useCoverageAsked = question.useAsked
export const refuseCoverage = question.refuse

/** Sends a request, and once more with `confirm_share` after somebody confirmed the share that the whitelist would cover. */
export const confirming: typeof fetch = async (input, init) => {
  const reply = await sealing(input, init)
  const coverage = (await refusalIn(reply, 409))?.coverage
  if (!coverage || typeof init?.body !== 'string' || !(await question.ask(coverage))) return reply
  const body = { ...recordOf(JSON.parse(init.body)), confirm_share: coverage.percent }
  return sealing(input, { ...init, body: JSON.stringify(body) })
}
