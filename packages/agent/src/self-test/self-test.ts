import { randomInt } from 'node:crypto'
import type { SelfTestResult } from '@stockade/contract/command-types/self-test.ts'
import { Refused } from '../commands/refused.ts'
import type { EngineTest } from './engine-test.ts'
import type { Probe, Target } from './probe.ts'
import { createSteps, isAnswer, isAnsweredAgain, placesThrough, placeText } from './steps.ts'
import type { Control, Family, Steps } from './steps.ts'

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

/** A port whose packets go elsewhere: `leadsTo` is an address with a port. */
export interface Published {
  readonly port: number
  readonly leadsTo: string
}

/** What the command asks for. */
export interface Asked {
  readonly level?: 'packet' | 'engine'
  readonly ports?: readonly number[]
}

const families = [4, 6] as const
const maxTargets = 3
const closedPort = 9

export const createSelfTest = (needs: {
  testBan: TestBan
  engineTest: EngineTest
  probe: Probe
  /** The host's own addresses, without loopback and link-local. */
  addresses: () => readonly string[]
  ports: () => readonly number[]
  /** Ports whose packets are forwarded, such as to a container. */
  published: () => Promise<readonly Published[]>
  steadyNow: () => number
}): ((asked: Asked) => Promise<string>) => {
  const { testBan, probe } = needs

  const targetsOf = (family: Family, asked: Asked, published: readonly Published[]): Target[] => {
    const own = needs.addresses().filter(address => address.includes(':') === (family === 6))
    const [first] = own
    if (first === undefined) return []
    if (asked.ports) return asked.ports.map(port => ({ address: first, port }))
    const ports = needs.ports().slice(0, maxTargets)
    // A closed port answers with a reset, which serves as well.
    const listening = (ports.length > 0 ? ports : [closedPort]).map(port => ({ address: first, port }))
    // The rule that forwards a port may name any address of the host.
    const forwarded = published
      .filter(({ leadsTo }) => /:.*:/.test(leadsTo) === (family === 6))
      .slice(0, maxTargets)
      .flatMap(({ port, leadsTo }) => own.slice(0, maxTargets).map(address => ({ address, port, leadsTo })))
    return [...listening, ...forwarded]
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

  const controlOf = ({ step }: Steps, family: Family, source: string, targets: readonly Target[]) =>
    step(
      'control',
      family,
      async () => {
        const answers = await probe(source, targets)
        const answeringTargets = targets.filter((_, index) => isAnswer(answers[index]))
        const silent = silentPorts(targets, answeringTargets)
        const text =
          answeringTargets.length > 0
            ? `a packet from ${source} is answered by ${answeringTargets.map(placeText).join(', ')}${silent}`
            : "the host's own firewall does not let the test packet in, so nothing can be said about packets"
        // Where nothing answers, a ban makes no difference.
        const control: Control = { targets: answeringTargets, answers: answers.filter(isAnswer) }
        return { ok: answeringTargets.length > 0 ? true : null, text, value: control }
      },
      true,
    )

  const testShield = async ({ step }: Steps, family: Family, source: string, control: Control | null) => {
    try {
      const isHeld = await step('ban', family, async () => {
        await testBan.hold(source)
        await testBan.stopped(source)
        return { ok: true, text: `the kernel holds a ban of ${source}`, value: true }
      })
      if (control !== null && isHeld)
        await step('drop', family, async () => {
          const through = placesThrough(control, await probe(source, control.targets))
          const stopped = await testBan.stopped(source)
          const ok = through.length === 0 && stopped !== 0
          const counted = stopped === null ? '' : `; the kernel dropped ${stopped}`
          const text = ok
            ? `packets of the banned address get no answer${counted}`
            : `packets of the banned address are still answered by ${through.join(', ') || 'nobody, but the kernel counted no drop'}`
          return { ok, text, value: true }
        })
    } finally {
      await step('lift', family, async () => {
        await testBan.release(source)
        if (control === null) return { ok: true, text: 'the ban is lifted', value: true }
        const ok = await isAnsweredAgain(control, source, needs)
        const text = ok ? 'after the ban, packets are answered again' : 'after the ban, packets are not answered'
        return { ok, text, value: true }
      })
    }
  }

  return async asked => {
    const reason = testBan.whyNot()
    if (reason !== null) throw new Refused(`the shield does not work on this host, so nothing was tested: ${reason}`)
    const test = createSteps(needs.steadyNow)
    const published = await needs.published()
    const tried: { family: Family; source: string; control: Control | null }[] = []
    for (const family of families) {
      const targets = targetsOf(family, asked, published)
      if (targets.length === 0) continue
      const source = await sourceOf(family)
      const control = await controlOf(test, family, source, targets)
      await testShield(test, family, source, control)
      tried.push({ family, source, control })
    }
    if (asked.level === 'engine' && tried.length > 0) await needs.engineTest(test, tried)
    const { steps } = test
    const isFailed = steps.length === 0 || steps.some(({ ok }) => ok === false)
    const result = isFailed ? 'failed' : steps.some(({ ok }) => ok === null) ? 'held' : 'proved'
    const output = JSON.stringify({ result, steps: [...steps] } satisfies SelfTestResult)
    if (isFailed) throw new Refused(output)
    return output
  }
}

/** Ports of which nothing can be said. A published port may be behind another address of the host. */
const silentPorts = (targets: readonly Target[], seen: readonly Target[]): string => {
  const answered = new Set(seen.map(({ port }) => port))
  const silent = [...new Set(targets.map(({ port }) => port))].filter(port => !answered.has(port))
  return silent.length === 0
    ? ''
    : `; nothing answers at ${silent.map(port => `port ${port}`).join(', ')}, so that is not tested`
}
