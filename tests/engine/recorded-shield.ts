import { contentDigest } from '../../packages/agent/src/shield/list-store.ts'
import { digestOf, endsOf } from '../../packages/agent/src/shield/fleet-store.ts'

/* What the recorder wants a host to ban by desired state: no rule of the real server stands before it. */

interface RecordedList {
  readonly id: number
  readonly version: number
  readonly mode: 'enforce' | 'observe'
  readonly text: string
}

interface Reply {
  readonly version: number
  readonly text: string
}

export const aRecordedShield = () => {
  let version = 0
  let bans: readonly string[] = []
  let lists: readonly RecordedList[] = []
  const rows = () => bans.map((entry, index) => ({ id: index + 1, entry, expires_at: null, force: false }))
  const digest = (): string =>
    digestOf(endsOf(rows().map(({ id, entry }) => ({ id, entry, until: null, isForced: false }))))

  return {
    ban(entries: readonly string[]): void {
      bans = entries
      version += 1
    },
    list(wanted: readonly RecordedList[]): void {
      lists = wanted
      version += 1
    },
    version: () => version,
    /** Part of the desired state; nothing before the first ban or list. */
    state: () =>
      version === 0
        ? {}
        : {
            shield: {
              bans: { version, count: bans.length, digest: digest() },
              lists: lists.map(({ text, ...list }) => ({
                ...list,
                entries: text.split('\n').length - 1,
                digest: contentDigest(text),
              })),
            },
          },
    /** The answer to a request for bans or a list; null for any other. */
    answer(route: string): Reply | null {
      if (route === 'GET /api/v1/agent/shield/bans')
        return {
          version,
          text: JSON.stringify({ version, full: true, digest: digest(), add: rows(), remove: [] }),
        }
      const id = Number(/^GET \/api\/v1\/agent\/shield\/lists\/(\d+)$/.exec(route)?.[1])
      return lists.find(list => list.id === id) ?? null
    },
  }
}
