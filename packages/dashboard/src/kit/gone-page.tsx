import type { ReactNode } from 'react'
import { Page } from './page.tsx'
import parts from './parts.module.css'

/** For the address of something that is not there (any more), with the way on. */
export const GonePage = (props: { title: string; text: string; children: ReactNode }) => (
  <Page title={props.title}>
    <div className={parts.empty}>
      <p>{props.text}</p>
      {props.children}
    </div>
  </Page>
)
