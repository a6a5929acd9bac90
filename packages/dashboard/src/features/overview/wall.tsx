import { useEffect, useState } from 'react'
import { useNavigate } from '@tanstack/react-router'
import type { Period } from '../fleet/queries.ts'
import { useWords } from '../../kit/now.ts'
import { clockTime, longDay } from '../../lib/time.ts'
import { searchOf } from './filter.ts'
import styles from './overview.module.css'

export const periods = ['day', 'week', 'month'] as const

/** What the page is made for; a larger screen shows the same, larger. */
const drawnSize = { width: 1440, height: 900 } as const

/** On the wall nothing is around the page and nothing scrolls; it fills the screen. Escape leads back to the desk. */
export const useWall = (isWall: boolean, period: Period) => {
  const navigate = useNavigate()
  useEffect(() => {
    if (!isWall) return
    const { dataset, style } = document.documentElement
    const fit = () => {
      style.zoom = String(Math.max(1, Math.min(innerWidth / drawnSize.width, innerHeight / drawnSize.height)))
    }
    const leave = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') void navigate({ to: '/', search: searchOf(period) })
    }
    dataset.kiosk = ''
    fit()
    addEventListener('resize', fit)
    addEventListener('keydown', leave)
    return () => {
      delete dataset.kiosk
      style.zoom = ''
      removeEventListener('resize', fit)
      removeEventListener('keydown', leave)
    }
  }, [isWall, period, navigate])
}

/** How long a wall shows each period: long enough to read it twice. */
const turn = 30_000

/** The period that is shown: the one of the URL; on a wall without one, each for half a minute. */
export const usePeriod = (asked: Period | undefined, isWall: boolean): Period => {
  const [turned, setTurned] = useState(0)
  const isTurning = isWall && asked === undefined
  useEffect(() => {
    if (!isTurning) return
    const timer = setInterval(() => setTurned(now => now + 1), turn)
    return () => clearInterval(timer)
  }, [isTurning])
  return asked ?? (isTurning ? (periods[turned % periods.length] ?? 'day') : 'day')
}

/** The time of the display zone, so that a frozen screen is seen. */
export const WallClock = () => {
  const time = useWords(clockTime)
  const day = useWords(longDay)
  return (
    <p className={styles.clock}>
      <time>{time}</time> <span>{day}</span>
    </p>
  )
}
