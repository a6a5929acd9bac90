import { lazy, useEffect } from 'react'
import { refuseCoverage, useCoverageAsked } from '../../api/coverage.ts'
import { Dialogs } from '../../kit/dialogs.tsx'

const CoverageDialog = lazy(() => import('../../features/whitelist/coverage-dialog.tsx'))

/** The question before the whitelist covers a large part of the Internet, on whatever page an entry is added. */
export const CoverageAsked = () => {
  const question = useCoverageAsked()
  useEffect(() => refuseCoverage, [])
  return <Dialogs>{question && <CoverageDialog coverage={question} answer={question.answer} />}</Dialogs>
}
