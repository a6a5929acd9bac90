import { Suspense, lazy, useEffect } from 'react'
import { refuseSsh, useSshAsked } from '../../features/fleet/ssh-asked.ts'

const SshDialog = lazy(() => import('../../features/commands/ssh-question.tsx'))

/** The question before a jail is switched off that guards SSH, on whatever page it comes up. */
export const SshAsked = () => {
  const asked = useSshAsked()
  useEffect(() => refuseSsh, [])
  return (
    <Suspense>
      {asked && <SshDialog question={asked} onYes={() => asked.answer(true)} onNo={() => asked.answer(false)} />}
    </Suspense>
  )
}
