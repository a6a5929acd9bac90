import { useState } from 'react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { meQuery, queries } from '../../api/queries.ts'
import { useMe } from '../../api/session.ts'
import { signOut } from '../../api/sign-out.ts'
import { Announcer } from '../../kit/announce.tsx'
import parts from '../../kit/parts.module.css'
import { safeReturn } from '../../lib/place.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { AddPasskey } from '../identity/add-passkey.tsx'
import { Enrolment } from '../identity/enrolment.tsx'
import { passkeysTexts } from '../identity/passkeys.texts.ts'
import { enrolTexts } from './enrol.texts.ts'
import { Entry } from './entry.tsx'

/** All that someone may see who needs a second factor and has none. */
export const Enrol = () => {
  const t = textsOf(enrolTexts)
  const { next } = useSearch({ from: '/login/enrol' })
  const navigate = useNavigate()
  const passkeys = textsOf(passkeysTexts)
  const me = useMe()
  // A user who has codes turned on lacks only a passkey. The first state is kept, because codes are turned on here.
  const [coded, setCoded] = useState<boolean>()
  if (me && coded === undefined) setCoded(me.mfa_enabled)
  const go = () => {
    void queries.invalidateQueries({ queryKey: meQuery.queryKey })
    void navigate({ href: safeReturn(next), replace: true })
  }
  const leave = async () => {
    if (await signOut()) await navigate({ to: '/login' })
  }
  return (
    <Entry title={t.title} wide>
      <p>{coded ? passkeys.required : t.why}</p>
      <AddPasskey onDone={go} />
      {!coded && <Enrolment begun onDone={go} />}
      <div>
        <button type="button" className={parts.quiet} onClick={leave}>
          {t.signOut}
        </button>
      </div>
      <Announcer />
    </Entry>
  )
}
