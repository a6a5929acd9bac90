import type { ReactNode } from 'react'
import { Link } from '@tanstack/react-router'
import { Page } from '../../kit/page.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { templatesTexts } from './templates.texts.ts'

/** A page of one template, with the way back to all. */
export const TemplateFrame = (props: { title: string; actions?: ReactNode; children: ReactNode }) => (
  <Page
    title={props.title}
    heading={<bdi>{props.title}</bdi>}
    above={
      <Link to="/templates" search={{}}>
        {textsOf(templatesTexts).title}
      </Link>
    }
    actions={props.actions}
  >
    {props.children}
  </Page>
)
