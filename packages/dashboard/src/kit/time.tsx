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
/** Words about a moment, with the exact time on hover; a click or tap shows all times of the page exactly. */
export const TimeWords = ({ at, say }: { at: string; say: SayMoment }) => {
  const date = Date.parse(at)
  const isExact = useExact()
  const words = useWords(now => (isExact ? exactTime(date) : say(date, now)))
  return (
    <time dateTime={at} title={exactTime(date)} onClick={times.toggle}>
      {words}
    </time>
  )
}
/** How long ago. */
export const Time = ({ at }: { at: string }) => <TimeWords at={at} say={ago} />
/** `20 Nov 14:04`: what is also read on paper, or lies ahead. */
export const DatedTime = ({ at }: { at: string }) => <TimeWords at={at} say={shortDate} />
/** `14:04`, `yesterday 20:59`, `20 Nov 14:04`: after a word such as since. */
export const MomentTime = ({ at }: { at: string }) => <TimeWords at={at} say={dayTime} />
/** A sentence with a moment in it: its exact time on hover; a click or tap shows all times of the page exactly. */
export const TimeSentence = ({ at, say }: { at: string; say: (moment: string, now: number) => string }) => {
  const date = Date.parse(at)
  const moment = useSayMoment()
  const words = useWords(now => say(moment(date, now), now))
  return (
    <time dateTime={at} title={exactTime(date)} onClick={times.toggle}>
      {words}
    </time>
  )
}
/** What is left of a ban, or since when it is over. */
export const Ends = ({ ban }: { ban: Ending }) => {
  const at = ban.active ? ban.expires_at : (ban.unbanned_at ?? ban.expires_at)
  const say = (now: number) => ending(ban, now)
  const words = useWords(say)
  return at === null ? words : <TimeWords at={at} say={(_, now) => say(now)} />
}
const exactly: SayMoment = at => exactTime(at)
/** How a moment inside a sentence is told: as by `MomentTime`, or exactly when the user asked for that. */
export const useSayMoment = (): SayMoment => (useExact() ? exactly : dayTime)
