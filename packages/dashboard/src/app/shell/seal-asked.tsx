import { Suspense, lazy, useEffect } from 'react'
import { refuseSeal, useSealAsked } from '../../api/sealing.ts'

const SealDialog = lazy(() => import('../../features/commands/seal-dialog.tsx'))

/** The signature that hosts ask for, on whatever page a command is given. */
export const SealAsked = () => {
  const asked = useSealAsked()
  useEffect(() => refuseSeal, [])
  return <Suspense>{asked && <SealDialog asked={asked} />}</Suspense>
}
