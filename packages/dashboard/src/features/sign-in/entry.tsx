import type { ReactNode } from 'react'
import { DemoTag } from '../../kit/demo-tag.tsx'
import { Heading, useTitle } from '../../kit/page.tsx'
import styles from './entry.module.css'

/** The frame of a page outside the shell: the fence below, one column, the name of the thing and of the site above. */
export const Frame = (props: { title: string; wide?: boolean; aside?: ReactNode; children: ReactNode }) => (
  <div className={styles.ground}>
    <main className={`${styles.entry ?? ''} ${props.wide ? (styles.wide ?? '') : ''}`}>
      <div className={styles.brand}>
        <img src="./icon.svg" alt="" />
        <div className={styles.names}>
          <Heading large>{props.title}</Heading>
          <p className={styles.place}>
            <bdi>{location.host}</bdi> {props.aside}
          </p>
        </div>
      </div>
      {props.children}
    </main>
    <div className={styles.fence} aria-hidden="true" />
  </div>
)

/** A page before one is in: one heading, one thing to do. */
export const Entry = (props: { title: string; wide?: boolean; children: ReactNode }) => {
  useTitle(props.title)
  return (
    <Frame title={props.title} wide={props.wide ?? false} aside={<DemoTag />}>
      {props.children}
    </Frame>
  )
}
