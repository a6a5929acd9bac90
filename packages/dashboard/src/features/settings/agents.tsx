import { useState } from 'react'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { Loading } from '../../kit/loading.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Stranger } from '../../kit/stranger.tsx'
import { number } from '../../lib/numbers.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { AddressPanel } from '../agent-address/address-panel.tsx'
import { Confirm } from '../identity/dialogs.ts'
import { agentsTexts } from './agents.texts.ts'
import { isOpen, releaseQuery, rolloutsQuery } from './rollout-queries.ts'
import { Rollouts } from './rollouts.tsx'
import { SettingsPage } from './settings-page.tsx'
import styles from './settings.module.css'

type Release = Reply<'GET /agents/release'>

/** Which release of the agent runs where, and its upgrade from here. */
export const AgentSettings = () => {
  const t = textsOf(agentsTexts)
  const isBusy = useQuery(rolloutsQuery).data?.rollouts.some(isOpen) ?? true
  const release = useQuery(releaseQuery(isBusy))
  return (
    <SettingsPage title={t.title}>
      <Loading what={t.what} query={release} lines={4} />
      {release.data && <ReleasePanel is={release.data} isBusy={isBusy} />}
      <Rollouts />
      <AddressPanel />
    </SettingsPage>
  )
}

const sentenceOf = ({ version, outdated, rebuilt }: Release): string => {
  const t = textsOf(agentsTexts)
  if (version === null) return t.none
  if (outdated === 0) return t.current(version)
  return (outdated === rebuilt ? t.rebuilt : t.outdated)(outdated, number(outdated), version)
}

const ReleasePanel = ({ is, isBusy }: { is: Release; isBusy: boolean }) => {
  const t = textsOf(agentsTexts)
  const [isAsking, setAsking] = useState(false)
  const able = is.outdated - is.unable
  const start = async () => {
    await api.call('POST /agents/rollouts', { body: {} })
    await queries.invalidateQueries({ queryKey: ['agents'] })
  }
  return (
    <Panel title={t.release}>
      <div className={styles.main}>
        <p role="status">{sentenceOf(is)}</p>
        {is.version !== null && !is.signed && <p className={parts.help}>{t.unsigned}</p>}
        {is.versions.length > 0 && (
          <dl className={parts.details}>
            {is.versions.map(({ version, servers }) => (
              <Line key={version} name={version ?? t.noVersion} value={t.servers(servers, number(servers))} />
            ))}
          </dl>
        )}
        {is.reasons.length > 0 && (
          <section aria-label={t.obstacles}>
            <h3 className={styles.subhead}>{t.obstacles}</h3>
            <dl className={parts.details}>
              {is.reasons.map(({ reason, servers }) => (
                <Line key={reason} name={t.servers(servers, number(servers))} value={reason} />
              ))}
            </dl>
          </section>
        )}
        {able > 0 && !isBusy && (
          <div className={parts.row}>
            <Button onClick={() => setAsking(true)}>{t.upgrade(able, number(able))}</Button>
          </div>
        )}
      </div>
      {isAsking && (
        <Dialogs>
          <Confirm
            title={t.confirmTitle(is.version ?? '')}
            text={t.confirmText}
            verb={t.confirmVerb}
            act={start}
            onClose={() => setAsking(false)}
          />
        </Dialogs>
      )}
    </Panel>
  )
}

const Line = ({ name, value }: { name: string; value: string }) => (
  <>
    <dt>{name}</dt>
    <dd>
      <Stranger text={value} most={300} />
    </dd>
  </>
)
