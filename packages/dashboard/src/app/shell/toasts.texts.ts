import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  label: 'News',
  undo: 'Undo',
  close: 'Close this',
}
export const toastsTexts: Catalogue<typeof en> = { name: 'toasts', en }
