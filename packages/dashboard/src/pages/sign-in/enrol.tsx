import { useNavigate, useSearch } from '@tanstack/react-router'
import { signOut } from '../../api/session.ts'
import { Announcer } from '../../parts/announce.tsx'
import parts from '../../parts/parts.module.css'
import { safeReturn } from '../../place.ts'
import { textsOf } from '../../texts/catalogue.ts'
import { Enrolment } from '../identity/enrolment.tsx'
import { enrolTexts } from './enrol.texts.ts'
import { Entry } from './entry.tsx'

/** All that someone may see who needs a second factor and has none. */
export const Enrol = () => {
  const t = textsOf(enrolTexts)
  const { next } = useSearch({ from: '/login/enrol' })
  const navigate = useNavigate()
  const leave = async () => {
    await signOut()
    await navigate({ to: '/login' })
  }
  return (
    <Entry title={t.title} wide>
      <p>{t.why}</p>
      <Enrolment begun onDone={() => void navigate({ href: safeReturn(next), replace: true })} />
      <div>
        <button type="button" className={parts.quiet} onClick={leave}>
          {t.signOut}
        </button>
      </div>
      <Announcer />
    </Entry>
  )
}
