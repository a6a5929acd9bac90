import { isProblem } from '@stockade/client'
import type { ProblemBody } from '@stockade/contract'

/** The body of a refusal with this status. It is read from a copy: the caller passes the reply on. */
export const refusalIn = async (reply: Response, status: number): Promise<ProblemBody | null> => {
  if (reply.status !== status) return null
  const body: unknown = await reply
    .clone()
    .json()
    .catch(() => null)
  return isProblem(body) ? body : null
}
