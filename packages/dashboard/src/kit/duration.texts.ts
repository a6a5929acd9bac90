import type { Catalogue } from '../lib/texts/catalogue.ts'

const en = {
  lengths: {
    label: (name: string) => `Usual lengths: ${name}`,
    hour: '1 hour',
    day: '1 day',
    week: '1 week',
    month: '30 days',
  },
  help: 'Or in words, such as 90 min, 2 weeks or permanent.',
  wrong: 'Enter a duration, such as 90 min, 2 weeks or permanent.',
}
export const durationTexts: Catalogue<typeof en> = { name: 'duration', en }
