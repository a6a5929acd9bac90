import { useEffect, useRef, useState } from 'react'
import type { ComponentType } from 'react'
import { Button } from '@mantine/core'
import { fleetTexts } from '../../fleet/fleet.texts.ts'
import type { Period } from '../../fleet/queries.ts'
import { Panel } from '../../parts/page.tsx'
import parts from '../../parts/parts.module.css'
import { usePreferences } from '../../parts/preferences.ts'
import { usePhone } from '../../parts/width.ts'
import { textsOf } from '../../texts/catalogue.ts'
import { overviewTexts } from './overview.texts.ts'
import type { Stats } from './queries.ts'
import styles from './overview.module.css'

type Map = ComponentType<{
  places: Stats['bans_by_country']
  search: { readonly from: string; readonly to: string }
}>

/** Last on the page: it is loaded when it is scrolled to; on phones, and where data is dear, when it is asked for. */
export const MapPanel = ({ period, stats }: { period: Period; stats: Stats }) => {
  const t = textsOf(overviewTexts)
  const phone = usePhone()
  const onRequest = usePreferences().reduced || phone
  const [wanted, want] = useState(false)
  const [failed, setFailed] = useState(false)
  const [map, setMap] = useState<{ readonly Shown: Map } | null>(null)
  const room = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (onRequest || wanted || !room.current) return
    const seen = new IntersectionObserver(entries => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) want(true)
    })
    seen.observe(room.current)
    return () => seen.disconnect()
  }, [onRequest, wanted])
  useEffect(() => {
    if (!wanted || failed || map) return
    let gone = false
    import('../../charts/world.tsx').then(
      ({ default: Shown }) => !gone && setMap({ Shown }),
      () => !gone && setFailed(true),
    )
    return () => {
      gone = true
    }
  }, [wanted, failed, map])
  return (
    <Panel title={t.map(textsOf(fleetTexts).periods[period])}>
      <div className={onRequest && !wanted ? undefined : styles.mapRoom} ref={room}>
        {onRequest && !wanted && (
          <Button variant="default" onClick={() => want(true)}>
            {t.showMap}
          </Button>
        )}
        {failed && (
          <p className={parts.refusal} role="alert">
            {t.mapFailed}{' '}
            <button type="button" className={parts.quiet} onClick={() => setFailed(false)}>
              {t.retry}
            </button>
          </p>
        )}
        {map && <map.Shown places={stats.bans_by_country} search={{ from: stats.from, to: stats.to }} />}
      </div>
    </Panel>
  )
}
