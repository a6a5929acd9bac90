import { useMay } from '../../api/session.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { listTabs, listTabsOfAdmins } from '../navigation/places.ts'
import { shellTexts } from '../navigation/shell.texts.ts'
import { Sections } from './sections.tsx'

/** The tabs of “Lists”. */
export const ListTabs = () => {
  const t = textsOf(shellTexts)
  const { may: isAdmin } = useMay('admin')
  const items = (isAdmin ? listTabsOfAdmins : listTabs).map(({ to, text }) => ({ to, text: t[text] }))
  return <Sections label={t.lists} items={items} />
}
