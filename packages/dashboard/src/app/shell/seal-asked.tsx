import { lazy, useEffect } from 'react'
import { refuseSeal, useSealAsked } from '../../api/sealing.ts'
import { Dialogs } from '../../kit/dialogs.tsx'

const SealDialog = lazy(() => import('../../features/commands/seal-dialog.tsx'))

/** The signature that hosts ask for, on whatever page a command is given. */
export const SealAsked = () => {
  const question = useSealAsked()
  useEffect(() => refuseSeal, [])
  return <Dialogs>{question && <SealDialog asked={question} />}</Dialogs>
}
