import { lazy, useEffect } from 'react'
import { refuseSsh, useSshAsked } from '../../features/fleet/ssh-asked.ts'
import { Dialogs } from '../../kit/dialogs.tsx'

const SshDialog = lazy(() => import('../../features/commands/ssh-question.tsx'))

/** The question before a jail is switched off that guards SSH, on whatever page it comes up. */
export const SshAsked = () => {
  const question = useSshAsked()
  useEffect(() => refuseSsh, [])
  return (
    <Dialogs>
      {question && (
        <SshDialog question={question} onYes={() => question.answer(true)} onNo={() => question.answer(false)} />
      )}
    </Dialogs>
  )
}
