/** Ranges that end now, as URLs say them; they stay relative there. */
export const ranges = ['now-24h', 'now-7d', 'now-30d'] as const
