import type { ReactNode } from 'react'
import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useMay } from '../../api/session.ts'
import { Page } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
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

/** The page of one kind of list, with a button that adds one where the user may. */
export const ListPage = (props: {
  title: string
  lead: string
  add: string
  onAdd: (() => void) | undefined
  children: ReactNode
}) => {
  const names = textsOf(shellTexts)
  return (
    <Page
      title={`${props.title} · ${names.lists}`}
      heading={names.lists}
      tools={<ListTabs />}
      actions={
        props.onAdd && (
          <Button leftSection={<IconPlus size={16} />} onClick={props.onAdd}>
            {props.add}
          </Button>
        )
      }
    >
      <p className={parts.muted}>{props.lead}</p>
      {props.children}
    </Page>
  )
}
