import type { ReactNode } from 'react'
import { useQuery } from '@tanstack/react-query'
import { optionsQuery } from '../../api/queries.ts'
import { DemoTag } from '../../kit/demo-tag.tsx'
import { Heading, useTitle } from '../../kit/page.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import styles from './entry.module.css'

/** A page before one is in: the site's name, one heading, one thing to do. */
export const Entry = (props: { title: string; wide?: boolean; children: ReactNode }) => {
  const site = useQuery(optionsQuery).data?.site_name ?? textsOf(commonTexts).product
  useTitle(props.title)
  return (
    <main className={`${styles.entry ?? ''} ${props.wide ? (styles.wide ?? '') : ''}`}>
      <div className={styles.brand}>
        <img src="./icon.svg" alt="" />
        <bdi>{site}</bdi>
        <DemoTag />
      </div>
      <Heading>{props.title}</Heading>
      {props.children}
    </main>
  )
}
