import { join } from 'node:path'
import { expect } from 'vitest'
import { until, type Host } from './host.ts'
import type { RecordedScene } from './stage.ts'

/* What a host reports of its protection. */

export interface ProtectionReport {
  readonly level: string
  readonly summary: string
  readonly checks: readonly { id: string; subject: string | null; state: string; detail: string }[]
}

export const reports = ({ server, serverId }: RecordedScene): ProtectionReport[] =>
  server.heartbeats(serverId).flatMap(beat => (beat['protection'] ? [beat['protection'] as ProtectionReport] : []))
/** The levels that were reported after some reports, without repetitions. */
export const levelsSince = (scene: RecordedScene, from: number): string[] =>
  reports(scene)
    .slice(from)
    .map(({ level }) => level)
    .filter((level, index, list) => level !== list[index - 1])
const latest = (scene: RecordedScene): ProtectionReport | undefined => reports(scene).at(-1)

/** Waits until the host reports this level with this sentence. */
export async function seen(scene: RecordedScene, level: string, detail: RegExp): Promise<void> {
  await until(
    () => latest(scene)?.level === level && (latest(scene)?.checks ?? []).some(check => detail.test(check.detail)),
    `${level}: ${detail.source}`,
    () => latest(scene),
  )
  expect(latest(scene)?.summary).not.toBe('')
}

export async function wellAgain(scene: RecordedScene): Promise<void> {
  await until(
    () => latest(scene)?.level === 'protected',
    'the level "protected"',
    () => latest(scene),
  )
}

export const authLog = (host: Host): string => join(host.directory, 'log', 'auth.log')
