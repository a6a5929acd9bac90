import { useEffect, useState } from 'react'
import { live } from '../../api/live.ts'

/** An arrow sticks for so long, in milliseconds. */
const sticks = 60_000
/** Places for arrows in one stake. */
const slots = [0, 1, 2]
interface Arrow {
  readonly ban: number
  readonly at: number
  readonly slot: number
}
export type Arrows = ReadonlyMap<string, readonly Arrow[]>
const none: Arrows = new Map()

const withArrow = (arrows: Arrows, serverId: string, ban: number, at: number): Arrows => {
  const stuck = (arrows.get(serverId) ?? []).filter(arrow => arrow.at > at - sticks)
  const slot = slots.find(free => stuck.every(arrow => arrow.slot !== free))
  // A stake that is full of arrows says enough.
  return slot === undefined ? arrows : new Map(arrows).set(serverId, [...stuck, { ban, at, slot }])
}
/** Bans of the last minute by server, as the live feed brings them. */
export const useArrows = (isWanted: boolean): Arrows => {
  const [arrows, setArrows] = useState(none)
  useEffect(() => {
    if (!isWanted) return
    return live.listen(message => {
      if (message.type !== 'ban' || document.hidden) return
      const { id, server, banned_at } = message.data
      const now = Date.now()
      // A host that was away reports bans of the past.
      if (now - Date.parse(banned_at) < sticks) setArrows(arrows => withArrow(arrows, server.id, id, now))
    })
  }, [isWanted])
  useEffect(() => {
    if (arrows.size === 0) return
    const oldest = Math.min(...[...arrows.values()].flat().map(({ at }) => at))
    const timer = setTimeout(
      () => {
        const since = Date.now() - sticks
        const left = [...arrows].map(([id, stuck]) => [id, stuck.filter(({ at }) => at > since)] as const)
        setArrows(new Map(left.filter(([, stuck]) => stuck.length > 0)))
      },
      Math.max(0, oldest + sticks - Date.now()) + 50,
    )
    return () => clearTimeout(timer)
  }, [arrows])
  return arrows
}
