import { lazy } from 'react'
import { useProofAsked } from '../../api/proof.ts'
import { Dialogs } from '../../kit/dialogs.tsx'

const ProofDialog = lazy(() => import('../../features/identity/proof-dialog.tsx'))

/** The question who one is, on whatever page something dangerous is done. */
export const ProofAsked = () => {
  const question = useProofAsked()
  return <Dialogs>{question && <ProofDialog {...question} />}</Dialogs>
}
