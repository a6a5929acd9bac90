/** A ban on trial ends by itself after this time. */
export const trialTime = 60_000
const trialRetry = 1000

/** Whether the host reaches the server within the time of a trial, while a wide range is banned. */
export const reachesServer = async (needs: {
  /** Whether the server answers a request over a new connection. */
  answers: () => Promise<boolean>
  steadyNow: () => number
  isStopped?: () => boolean
}): Promise<boolean> => {
  const deadline = needs.steadyNow() + trialTime
  while (needs.isStopped?.() !== true && needs.steadyNow() < deadline) {
    if (await needs.answers().catch(() => false)) return true
    await new Promise(resolve => setTimeout(resolve, trialRetry))
  }
  return false
}
