import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  label: 'It stays',
  kinds: { never: 'For ever', hour: 'For 1 hour', day: 'For 1 day', week: 'For 1 week', until: 'Until…' },
  help: 'After that it is taken off by itself, on every server.',
  until: 'Until, in the time of this browser',
  invalid: 'Enter a time in the future, at most ten years ahead.',
  forEver: 'For ever',
}
export const endsTexts: Catalogue<typeof en> = { name: 'ends', en }
