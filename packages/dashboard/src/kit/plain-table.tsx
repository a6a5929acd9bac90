import type { ReactNode } from 'react'
import parts from './parts.module.css'

type Head = string | { readonly text: ReactNode; readonly key: string; readonly className: string | undefined }

/** The heads of named columns, some of them with a class. */
export const headsOf = (
  columns: Readonly<Record<string, string>>,
  classes: Readonly<Record<string, string | undefined>> = {},
): readonly Head[] => Object.entries(columns).map(([key, text]) => ({ key, text, className: classes[key] }))

/** A table without paging; with `frame` in a region that scrolls. Its children are its rows. */
export const PlainTable = (props: {
  caption: string
  heads: readonly Head[]
  frame?: string | undefined
  className?: string
  children: ReactNode
}) => {
  const table = (
    <table className={props.className ?? parts.table}>
      <caption className={parts.hidden}>{props.caption}</caption>
      <thead>
        <tr>
          {props.heads.map(head =>
            typeof head === 'string' ? (
              <th key={head} scope="col">
                {head}
              </th>
            ) : (
              <th key={head.key} scope="col" className={head.className}>
                {head.text}
              </th>
            ),
          )}
        </tr>
      </thead>
      <tbody>{props.children}</tbody>
    </table>
  )
  if (props.frame === undefined) return table
  return (
    <div className={props.frame} tabIndex={0} role="region" aria-label={props.caption}>
      {table}
    </div>
  )
}
