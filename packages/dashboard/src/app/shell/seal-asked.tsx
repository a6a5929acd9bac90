import { Suspense, lazy, useEffect } from 'react'
import { refuseSeal, useSealAsked } from '../../api/sealing.ts'

const SealDialog = lazy(() => import('../../features/commands/seal-dialog.tsx'))

/** The signature that hosts ask for, on whatever page a command is given. */
export const SealAsked = () => {
  const question = useSealAsked()
  useEffect(() => refuseSeal, [])
  return <Suspense>{question && <SealDialog asked={question} />}</Suspense>
}
