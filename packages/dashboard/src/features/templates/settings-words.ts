import { readDuration } from '@stockade/contract/durations.ts'
import type { Template } from '../fleet/queries.ts'
import { duration } from '../../lib/time.ts'

/* The four settings of a template, as people type them and as the interface takes them. */

export interface Typed {
  readonly maxretry: string
  readonly findtime: string
  readonly bantime: string
  readonly logpath: string
}
export const untyped: Typed = { maxretry: '', findtime: '', bantime: '', logpath: '' }

type Settings = Template['settings']
export interface Read {
  readonly settings: Partial<Record<'maxretry' | 'findtime' | 'bantime', number>> & { logpath?: string }
  readonly wrong: ReadonlySet<keyof Typed>
}

/** What was typed, as settings; fields that say nothing are left out, and wrong ones are named. */
export const readSettings = (typed: Typed): Read => {
  const wrong = new Set<keyof Typed>()
  const settings: Read['settings'] = {}
  const retries = typed.maxretry.trim()
  if (retries !== '') {
    const count = Number(retries)
    if (/^\d{1,4}$/.test(retries) && count >= 1 && count <= 1000) settings.maxretry = count
    else wrong.add('maxretry')
  }
  for (const name of ['findtime', 'bantime'] as const) {
    if (typed[name].trim() === '') continue
    const seconds = readDuration(typed[name])
    if (seconds === null || (seconds === -1 && name === 'findtime')) wrong.add(name)
    else settings[name] = seconds
  }
  if (typed.logpath.trim() !== '') settings.logpath = typed.logpath.trim()
  return { settings, wrong }
}

/** Seconds as one types them: the largest unit that loses nothing. */
export const typedTime = (seconds: number | null): string => {
  if (seconds === null) return ''
  if (seconds === -1) return 'perm'
  const [size, unit] = (
    [
      [86_400, 'd'],
      [3600, 'h'],
      [60, 'm'],
    ] as const
  ).find(([each]) => seconds % each === 0) ?? [1, 's']
  return `${seconds / size}${unit}`
}
export const typedSettings = (settings: Settings): Typed => ({
  maxretry: settings.maxretry === null ? '' : String(settings.maxretry),
  findtime: typedTime(settings.findtime),
  bantime: typedTime(settings.bantime),
  logpath: settings.logpath ?? '',
})

/** A setting for reading; null where the template leaves it to the jail. */
export const settingWords = (name: keyof Typed, value: string | number | null): string | null =>
  value === null ? null : name === 'findtime' || name === 'bantime' ? duration(Number(value)) : String(value)
