import { useCallback, useMemo } from 'react'
import { useParams } from '@tanstack/react-router'
import { statusOf } from '../../api/client.ts'
import { Loading } from '../../kit/loading.tsx'
import { ButtonLink } from '../../kit/button-link.tsx'
import { useCommand } from '../fleet/command-progress.tsx'
import { GonePage } from '../../kit/gone-page.tsx'
import { Page } from '../../kit/page.tsx'
import { useSaid } from '../fleet/said.ts'
import { Forbidden } from '../navigation/lone-pages.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commandsTexts } from './commands.texts.ts'
import { Facts } from './facts.tsx'
import { useCommandKeys } from './keys.ts'
import { RowAct } from './retry.tsx'

/** One command, live. */
export const CommandPage = () => {
  const t = textsOf(commandsTexts)
  const outputWords = useSaid()
  const { commandId } = useParams({ from: '/inside/commands/$commandId' })
  const query = useCommand(commandId)
  const row = query.data
  const status = statusOf(query.error)
  const rows = useMemo(() => (row ? [row] : []), [row])
  useCommandKeys(
    rows,
    useCallback(() => commandId, [commandId]),
  )
  const back = (
    <ButtonLink to="/commands" variant="default" search={{}}>
      {t.back}
    </ButtonLink>
  )
  if (status === 403) return <Forbidden />
  if (status === 404 || status === 400)
    return (
      <GonePage title={t.title} text={t.gone}>
        {back}
      </GonePage>
    )
  const what = row ? outputWords(row) : t.title
  return (
    <Page
      title={what}
      heading={<bdi>{what}</bdi>}
      actions={
        <>
          {row && <RowAct row={row} />}
          {back}
        </>
      }
    >
      <Loading what={t.whatOne} query={query} lines={5} />
      {row && <Facts row={row} />}
    </Page>
  )
}
