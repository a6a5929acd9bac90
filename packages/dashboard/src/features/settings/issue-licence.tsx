import type { ReactNode } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { announce } from '../../kit/announce.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { licenceQuery } from '../identity/queries.ts'
import { licenceTexts } from './licence.texts.ts'

/** How many servers the licence of one's own covers. */
const selfLimit = 1000

/** One step to all features: Stockade signs a licence for itself. What was refused without one is asked for again. */
export const IssueLicence = ({ children }: { children?: ReactNode }) => {
  const t = textsOf(licenceTexts)
  const is = useQuery(licenceQuery).data
  const issue = useMutation({
    mutationFn: () => api.call('POST /settings/license/self', { body: { servers: selfLimit } }),
    onSuccess: async () => {
      announce(t.done)
      await queries.invalidateQueries()
    },
  })
  // Another authority is configured: only its licences count.
  if (!is?.self_issue) return <div className={parts.row}>{children}</div>
  return (
    <>
      <p className={parts.muted}>{t.issueAbout}</p>
      <Refusal error={issue.error} />
      <div className={parts.row}>
        <Button onClick={() => issue.mutate()} loading={issue.isPending}>
          {t.issue}
        </Button>
        {children}
      </div>
    </>
  )
}
