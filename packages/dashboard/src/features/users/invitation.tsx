import { useEffect, useRef } from 'react'
import type { ReactNode } from 'react'
import { Button } from '@mantine/core'
import { CopyField } from '../../kit/copy.tsx'
import { useWords } from '../../kit/now.ts'
import parts from '../../kit/parts.module.css'
import { State } from '../../kit/state.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { exactTime } from '../../lib/time.ts'
import identity from '../identity/identity.module.css'
import { saveFile } from '../settings/save-file.ts'
import { usersTexts } from './users.texts.ts'

/** The exact end of the link, which the sender has to pass on. */
export const Until = ({ at }: { at: string }) => <time dateTime={at}>{exactTime(Date.parse(at))}</time>

/** A set-up link for somebody else, shown once. */
export const Invitation = (props: {
  username: string
  link: string
  until: string
  note?: string | undefined
  children: ReactNode
}) => {
  const t = textsOf(usersTexts)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const { username, link, until } = props
  const save = () =>
    saveFile(t.inviteLines(username, link, exactTime(Date.parse(until))), t.inviteFile(username), 'text/plain')
  return (
    <div className={`${parts.form ?? ''} ${identity.once ?? ''}`}>
      <h2 ref={heading} tabIndex={-1} className={identity.small}>
        {t.inviteTitle(username)}
      </h2>
      <p>
        {t.inviteText} {props.note}
      </p>
      <CopyField text={link} label={t.inviteLabel} />
      <p className={parts.help}>
        {t.inviteUntil} <Until at={until} />
      </p>
      <div className={parts.row}>
        {props.children}
        <Button variant="default" onClick={save}>
          {t.download}
        </Button>
      </div>
    </div>
  )
}

/** Whether the user has accepted the invitation: said only while there is one that was not. */
export const Invited = ({ until }: { until: string | null }) => {
  const t = textsOf(usersTexts)
  const over = useWords(now => until !== null && Date.parse(until) <= now)
  return until === null ? null : (
    <State is={over ? 'expired' : 'waiting'} word={over ? t.inviteOver : t.invited} tinted />
  )
}
