import { randomInt } from 'node:crypto'
import type { SelfTestResult } from '@stockade/contract/command-types/self-test.ts'
import { Refused } from '../commands/refused.ts'
import { errorText } from '../text.ts'
import type { Answer, Probe, Target } from './probe.ts'

type Step = SelfTestResult['steps'][number]

/** What the test needs of the shield. Nothing of it is reported to the server, and the kernel ends it by itself. */
export interface TestBan {
  /** Why this host's shield holds no bans; null if it does. */
  whyNot(): string | null
  isKept(entry: string): Promise<boolean>
  hold(entry: string): Promise<void>
  /** How many packets the ban stopped; null if the driver does not know. @throws Error if the kernel does not hold it */
  stopped(entry: string): Promise<number | null>
  release(entry: string): Promise<void>
}

const families = [4, 6] as const
type Family = (typeof families)[number]
const maxTargets = 3

export const createSelfTest = (needs: {
  testBan: TestBan
  probe: Probe
  /** The host's own addresses, without loopback and link-local. */
  addresses: () => readonly string[]
  ports: () => readonly number[]
  steadyNow: () => number
}): (() => Promise<string>) => {
  const { testBan, probe } = needs

  const targetsOf = (family: Family): Target[] => {
    const address = needs.addresses().find(own => own.includes(':') === (family === 6))
    if (address === undefined) return []
    const ports = needs.ports().slice(0, maxTargets)
    // A closed port answers with a reset, which serves as well.
    return (ports.length > 0 ? ports : [closedPort]).map(port => ({ address, port }))
  }

  /** An address for documentation, so that no host on the network has it. */
  const sourceOf = async (family: Family): Promise<string> => {
    for (let attempt = 0; attempt < 10; attempt++) {
      const source =
        family === 4 ? `192.0.2.${randomInt(64, 128)}` : `2001:db8:ffff::${randomInt(1, 65_535).toString(16)}`
      if (!(await testBan.isKept(source))) return source
    }
    throw new Error('the whitelist covers the addresses of the test (192.0.2.64/26 and 2001:db8:ffff::/64)')
  }

  const testFamily = async (family: Family): Promise<Step[]> => {
    const targets = targetsOf(family)
    if (targets.length === 0) return []
    const steps: Step[] = []
    const source = await sourceOf(family)
    const at = targets.map(({ address, port }) => `${address.includes(':') ? `[${address}]` : address}:${port}`)
    /** A failure of the work is a failed step, except where `untried` says that it only could not be tried. */
    const step = async <T>(
      name: Step['step'],
      work: () => Promise<{ ok: boolean | null; text: string; value: T }>,
      untried = false,
    ): Promise<T | null> => {
      const started = needs.steadyNow()
      const add = (ok: boolean | null, text: string): void =>
        void steps.push({ step: name, family, ok, ms: Math.round(needs.steadyNow() - started), text })
      try {
        const { ok, text, value } = await work()
        add(ok, text)
        return ok === true ? value : null
      } catch (error) {
        add(untried ? null : false, errorText(error))
        return null
      }
    }

    const control = await step(
      'control',
      async () => {
        const given = await probe(source, targets)
        const isAnswered = given.some(isAnswer)
        const seen = at.filter((_, index) => isAnswer(given[index]))
        const text = isAnswered
          ? `a packet from ${source} is answered by ${seen.join(', ')}`
          : "the host's own firewall does not let the test packet in, so nothing can be said about packets"
        return { ok: isAnswered ? true : null, text, value: given }
      },
      true,
    )
    try {
      const isHeld = await step('ban', async () => {
        await testBan.hold(source)
        await testBan.stopped(source)
        return { ok: true, text: `the kernel holds a ban of ${source}`, value: true }
      })
      if (control !== null && isHeld)
        await step('drop', async () => {
          const given = await probe(source, targets)
          const through = at.filter((_, index) => isAnswer(control[index]) && given[index] === control[index])
          const stopped = await testBan.stopped(source)
          const ok = through.length === 0 && stopped !== 0
          const counted = stopped === null ? '' : `; the kernel dropped ${stopped}`
          const text = ok
            ? `packets of the banned address get no answer${counted}`
            : `packets of the banned address are still answered by ${through.join(', ') || 'nobody, but the kernel counted no drop'}`
          return { ok, text, value: true }
        })
    } finally {
      await step('lift', async () => {
        await testBan.release(source)
        if (control === null) return { ok: true, text: 'the ban is lifted', value: true }
        const given = await probe(source, targets)
        const ok = given.every((answer, index) => answer === control[index])
        return {
          ok,
          text: ok ? 'after the ban, packets are answered again' : 'after the ban, packets are not answered',
          value: true,
        }
      })
    }
    return steps
  }

  return async () => {
    const reason = testBan.whyNot()
    if (reason !== null) throw new Refused(`the shield does not work on this host, so nothing was tested: ${reason}`)
    const steps: Step[] = []
    for (const family of families) steps.push(...(await testFamily(family)))
    const isFailed = steps.length === 0 || steps.some(({ ok }) => ok === false)
    const result = isFailed ? 'failed' : steps.some(({ ok }) => ok === null) ? 'held' : 'proved'
    const output = JSON.stringify({ result, steps } satisfies SelfTestResult)
    if (isFailed) throw new Refused(output)
    return output
  }
}

const closedPort = 9
const isAnswer = (answer: Answer | undefined): boolean => answer === 'syn-ack' || answer === 'rst'
