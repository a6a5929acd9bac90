import { useEffect, useRef } from 'react'
import type { ReactNode } from 'react'
import { useQuery } from '@tanstack/react-query'
import { optionsQuery } from '../../api/queries.ts'
import { CopyField } from '../../kit/copy.tsx'
import parts from '../../kit/parts.module.css'
import { ownAddress } from '../../lib/place.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import identity from '../identity/identity.module.css'
import { usersTexts } from './users.texts.ts'

/** A way in for somebody else, shown once. */
export const HandOver = (props: { username: string; password: string; note?: string; children: ReactNode }) => {
  const t = textsOf(usersTexts)
  const base = useQuery(optionsQuery).data?.base_url ?? ownAddress
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <div className={`${parts.form ?? ''} ${identity.once ?? ''}`}>
      <h2 ref={heading} tabIndex={-1} className={identity.small}>
        {t.madeTitle(props.username)}
      </h2>
      <p>
        {t.madeText} {props.note}
      </p>
      <CopyField text={t.handOver(`${base}/login`, props.username, props.password)} label={t.handOverLabel} />
      <div className={parts.row}>{props.children}</div>
    </div>
  )
}
