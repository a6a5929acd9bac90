import { textsOf } from '../../lib/texts/catalogue.ts'
import { listTabs } from '../navigation/places.ts'
import { shellTexts } from '../navigation/shell.texts.ts'
import { Sections } from './sections.tsx'

/** The tabs of “Lists”. One alone needs no bar. */
export const ListTabs = () => {
  const t = textsOf(shellTexts)
  const items = listTabs.map(({ to, text }) => ({ to, text: t[text] }))
  return items.length > 1 ? <Sections label={t.lists} items={items} /> : null
}
