/** Ranges that end now, as URLs say them; they stay relative there. */
export const ranges = ['now-24h', 'now-7d', 'now-30d'] as const

const lengths: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 }
/** The moment that `from` means; a relative one counts back from the end of the range. `today`: since midnight here. */
export const beginning = (from: string, end: number): string => {
  if (from === 'today') return new Date(new Date(end).setHours(0, 0, 0, 0)).toISOString()
  const relative = /^now-(\d+)([hdw])$/.exec(from)
  if (!relative) return from
  const [, count, unit = ''] = relative
  return new Date(end - Number(count) * (lengths[unit] ?? 0)).toISOString()
}
