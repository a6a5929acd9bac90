import type { Log } from '../log.ts'
import type { createPolicy } from './policy.ts'

/** A changed policy applies at once. The function that this makes logs and reports it, and lets port knocking decide again. */
export const createPolicyFollower = (needs: {
  policy: Pick<ReturnType<typeof createPolicy>, 'mark' | 'state'>
  /** Lets the heartbeat report it at once. */
  wake: () => void
  /** Lets port knocking decide again. */
  judgeAgain: () => Promise<void>
  log: Log
}): (() => Promise<void>) => {
  let policyMark = ''
  return async () => {
    const mark = needs.policy.mark()
    if (mark === policyMark) return
    policyMark = mark
    const { state: found, error } = needs.policy.state()
    if (error === null) needs.log.info(`policy: ${found === 'file' ? 'policy.json holds' : 'the defaults hold'}`)
    else needs.log.warn(`policy: policy.json can not be read, so every command is refused: ${error}`)
    needs.wake()
    await needs.judgeAgain()
  }
}
