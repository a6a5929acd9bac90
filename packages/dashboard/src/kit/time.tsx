import { useState } from 'react'
import { createShared } from '../lib/shared.ts'
import { ago, dayTime, ending, exactTime, shortDate } from '../lib/time.ts'
import type { Ending } from '../lib/time.ts'
import { useWords } from './now.ts'

const exact = createShared(false)
/** Relative or exact, for all times of the page. */
export const times = {
  toggle(): void {
    exact.set(!exact.get())
    document.documentElement.toggleAttribute('data-exact', exact.get())
  },
}
export const useExact = exact.use

export type SayMoment = (at: number, now: number) => string
const exactly: SayMoment = at => exactTime(at)

/** A time: the exact one on hover, and in its place after a click or tap. */
const Clickable = ({ at, words }: { at: string; words: (isExact: boolean, now: number) => string }) => {
  const isPageExact = useExact()
  const [isTurned, setTurned] = useState(false)
  const isExact = isPageExact !== isTurned
  const text = useWords(now => words(isExact, now))
  return (
    <time
      dateTime={at}
      title={exactTime(Date.parse(at))}
      data-turned={(isTurned && isExact) || undefined}
      onClick={() => setTurned(!isTurned)}
    >
      {text}
    </time>
  )
}
/** Words about a moment. */
export const TimeWords = ({ at, say }: { at: string; say: SayMoment }) => {
  const date = Date.parse(at)
  return <Clickable at={at} words={(isExact, now) => (isExact ? exactly : say)(date, now)} />
}
/** How long ago. */
export const Time = ({ at }: { at: string }) => <TimeWords at={at} say={ago} />
/** `20 Nov 14:04`: what is also read on paper, or lies ahead. */
export const DatedTime = ({ at }: { at: string }) => <TimeWords at={at} say={shortDate} />
/** `14:04`, `yesterday 20:59`, `20 Nov 14:04`: after a word such as since. */
export const MomentTime = ({ at }: { at: string }) => <TimeWords at={at} say={dayTime} />
/** A sentence with a moment in it. */
export const TimeSentence = ({ at, say }: { at: string; say: (moment: string, now: number) => string }) => {
  const date = Date.parse(at)
  return <Clickable at={at} words={(isExact, now) => say((isExact ? exactly : dayTime)(date, now), now)} />
}
/** What is left of a ban, or since when it is over. `phrase` puts it into a sentence. */
export const Ends = ({ ban, phrase = text => text }: { ban: Ending; phrase?: (left: string) => string }) => {
  const at = ban.active ? ban.expires_at : (ban.unbanned_at ?? ban.expires_at)
  const say = (now: number) => ending(ban, now)
  const words = useWords(say)
  return at === null ? words : <TimeWords at={at} say={(_, now) => phrase(say(now))} />
}
/** How a moment inside a sentence is told: as by `MomentTime`, or exactly when the user asked for that. */
export const useSayMoment = (): SayMoment => (useExact() ? exactly : dayTime)
