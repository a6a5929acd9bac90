import type { Catalogue } from '../lib/texts/catalogue.ts'

const en = {
  label: 'Saved views',
  save: 'Save this view',
  edit: 'Edit the views',
  done: 'Done',
  name: 'Name of the view',
  nameOf: (name: string) => `Name of the view ${name}`,
  remove: (name: string) => `Remove the view ${name}`,
  removed: (name: string) => `The view ${name} is gone.`,
  saved: (name: string) => `The view ${name} is saved.`,
}
export const viewsTexts: Catalogue<typeof en> = { name: 'views', en }
