import type { Catalogue } from './texts/catalogue.ts'

const en = {
  justNow: 'just now',
  secondsAgo: (n: number) => `${n} s ago`,
  minutesAgo: (n: number) => `${n} min ago`,
  hoursAgo: (n: number) => `${n} h ago`,
  seconds: (n: number) => `${n} s`,
  minutes: (n: number) => `${n} min`,
  hours: (n: number) => `${n} h`,
  days: (n: number) => `${n} d`,
  left: (time: string) => `${time} left`,
  permanent: 'Permanent',
  endUnknown: 'Unknown',
  ending: 'Ending now',
  ended: 'Ended',
  endedAt: (time: string) => `Ended ${time}`,
  tomorrow: (time: string) => `tomorrow ${time}`,
  yesterday: (time: string) => `yesterday ${time}`,
}
export const timeTexts: Catalogue<typeof en> = { name: 'time', en }
