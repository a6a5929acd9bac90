import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMay } from '../../api/session.ts'
import { CloseButton } from '../../kit/dialog-buttons.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { Trouble } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { liftAll } from './acts.ts'
import { ruleMatchesQuery } from './queries.ts'
import type { Rule } from './queries.ts'
import { rulesTexts } from './sharing-rules.texts.ts'
import { Matches } from './simulation.tsx'

/** The decisions of a rule, the newest first, and the way to take its bans back. */
const HistoryDialog = ({ rule, onClose }: { rule: Rule; onClose: () => void }) => {
  const t = textsOf(rulesTexts)
  const { may } = useMay('write')
  const query = useQuery(ruleMatchesQuery(rule.id))
  const matches = query.data?.matches
  const rest = (query.data?.total ?? 0) - (matches?.length ?? 0)
  const mayLift = may && rule.state !== 'armed' && rule.banned_30_days > 0
  return (
    <Dialog title={t.history.title(rule.name)} onClose={onClose}>
      <div className={parts.form}>
        <Trouble what={t.what} query={query} />
        {matches?.length === 0 && <p>{t.history.none}</p>}
        {matches && matches.length > 0 && <Matches label={t.history.title(rule.name)} matches={matches} />}
        {rest > 0 && <p className={parts.muted}>{t.history.more(rest)}</p>}
        <div className={parts.row}>
          {mayLift && (
            <Button
              variant="default"
              onClick={() => {
                liftAll(rule)
                onClose()
              }}
            >
              {t.liftAll}
            </Button>
          )}
          <CloseButton onClick={onClose} />
        </div>
      </div>
    </Dialog>
  )
}
export default HistoryDialog
