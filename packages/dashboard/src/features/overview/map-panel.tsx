import { useEffect, useRef, useState } from 'react'
import { Button } from '@mantine/core'
import { Later } from '../../kit/charts/later.tsx'
import { fleetTexts } from '../fleet/fleet.texts.ts'
import type { Period } from '../fleet/queries.ts'
import { Panel } from '../../kit/page.tsx'
import { usePreferences } from '../../kit/preferences.ts'
import { usePhone } from '../../kit/width.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { overviewTexts } from './overview.texts.ts'
import type { Stats } from './queries.ts'
import styles from './overview.module.css'

const loadMap = () => import('./world.tsx').then(({ WorldMap }) => WorldMap)

/** Last on the page: it is loaded when it is scrolled to; on phones, and where data is dear, when it is asked for. */
export const MapPanel = ({ period, stats }: { period: Period; stats: Stats }) => {
  const t = textsOf(overviewTexts)
  const phone = usePhone()
  const onRequest = usePreferences().reduced || phone
  const [wanted, want] = useState(false)
  const room = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (onRequest || wanted || !room.current) return
    const observer = new IntersectionObserver(entries => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) want(true)
    })
    observer.observe(room.current)
    return () => observer.disconnect()
  }, [onRequest, wanted])
  return (
    <Panel title={t.map(textsOf(fleetTexts).periods[period])}>
      <div className={onRequest && !wanted ? undefined : styles.mapRoom} ref={room}>
        {onRequest && !wanted && (
          <Button variant="default" onClick={() => want(true)}>
            {t.showMap}
          </Button>
        )}
        {wanted && (
          <Later load={loadMap} given={{ places: stats.bans_by_country, search: { from: stats.from, to: stats.to } }} />
        )}
      </div>
    </Panel>
  )
}
