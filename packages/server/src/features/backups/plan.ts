import { day } from '../../core/clock.ts'

/** When a backup is made each day, in the time zone of the server. */
export interface DailyTime {
  readonly hour: number
  readonly minute: number
}

/** The last moment before `now` at which a backup was due. */
export const lastDue = (now: number, { hour, minute }: DailyTime): number => {
  const today = new Date(now)
  today.setHours(hour, minute, 0, 0)
  if (today.getTime() <= now) return today.getTime()
  const yesterday = new Date(now - day)
  yesterday.setHours(hour, minute, 0, 0)
  return yesterday.getTime()
}

const namePattern = /^stockade-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.(?:gz|age)$/
/** `stockade-20261123T031700Z.gz`, in UTC. */
export const backupName = (at: number, isEncrypted: boolean): string =>
  `stockade-${new Date(at).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z.${isEncrypted ? 'age' : 'gz'}`
/** By the name that the server gave it. */
export const isEncrypted = (file: string): boolean => file.endsWith('.age')
const timeOf = (name: string): number | null => {
  const [, year, month, date, hour, minute, second] = namePattern.exec(name) ?? []
  if (year === undefined) return null
  return Date.UTC(Number(year), Number(month) - 1, Number(date), Number(hour), Number(minute), Number(second))
}
/** Files of ours, the newest first. */
export const backupsAmong = (names: readonly string[]): { name: string; at: number }[] =>
  names
    .flatMap(name => {
      const at = timeOf(name)
      return at === null ? [] : [{ name, at }]
    })
    .sort((a, b) => b.at - a.at)

/** How many days, weeks (from Monday) and months have a backup; the newest of each stays. */
const keptPeriods = [
  { most: 7, periodOf: (at: number) => Math.floor(at / day) },
  { most: 4, periodOf: (at: number) => Math.floor((at / day + 3) / 7) },
  { most: 6, periodOf: (at: number) => new Date(at).toISOString().slice(0, 7) },
] as const

/** Names of the backups that nothing keeps any more; other files are none of ours. */
export const backupsToRemove = (names: readonly string[]): string[] => {
  const backups = backupsAmong(names)
  const staying = new Set<string>()
  for (const { most, periodOf } of keptPeriods) {
    const newest = new Map<number | string, string>()
    for (const { name, at } of backups) if (!newest.has(periodOf(at))) newest.set(periodOf(at), name)
    for (const name of [...newest.values()].slice(0, most)) staying.add(name)
  }
  return backups.flatMap(({ name }) => (staying.has(name) ? [] : [name]))
}
