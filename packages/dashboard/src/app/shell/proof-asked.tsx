import { Suspense, lazy } from 'react'
import { useProofAsked } from '../../api/proof.ts'

const ProofDialog = lazy(() => import('../../features/identity/proof-dialog.tsx'))

/** The question who one is, on whatever page something dangerous is done. */
export const ProofAsked = () => {
  const question = useProofAsked()
  return <Suspense>{question && <ProofDialog {...question} />}</Suspense>
}
