import { useEffect, useState } from 'react'
import type { ComponentType, ReactNode } from 'react'
import parts from '../parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { chartsTexts } from './charts.texts.ts'

/**
 * A part of a page that is loaded when it is wanted. Where that fails it says so in its own place, with a way to try
 * again; what surrounds it stays.
 */
export const Later = <P extends object>(props: {
  load: () => Promise<ComponentType<P>>
  given: P
  /** What takes its room until it is there. */
  room?: ReactNode
}) => {
  const { load, given, room } = props
  const [found, setFound] = useState<{ readonly Part: ComponentType<P> } | null>(null)
  const [failed, setFailed] = useState(false)
  useEffect(() => {
    if (failed || found) return
    let gone = false
    load().then(
      Part => !gone && setFound({ Part }),
      () => !gone && setFailed(true),
    )
    return () => {
      gone = true
    }
  }, [failed, found, load])
  if (failed)
    return (
      <p className={parts.refusal} role="alert">
        {textsOf(chartsTexts).notLoaded}{' '}
        <button type="button" className={parts.quiet} onClick={() => setFailed(false)}>
          {textsOf(commonTexts).retry}
        </button>
      </p>
    )
  return found ? <found.Part {...given} /> : room
}
