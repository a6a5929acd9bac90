import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  label: 'Expires',
  kinds: { never: 'Never', hour: 'In 1 hour', day: 'In 1 day', week: 'In 1 week', until: 'At…' },
  help: 'Then it is removed on every server.',
  until: 'Expires at, in this browser’s time',
  invalid: 'Enter a time in the future, at most ten years ahead.',
  forEver: 'Never',
}
export const endsTexts: Catalogue<typeof en> = { name: 'ends', en }
