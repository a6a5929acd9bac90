import type { HostLists, GivenList } from './host-lists.ts'
import type { ListIndex } from './list-index.ts'
import type { ListThreads } from './list-threads.ts'

/** Bytes of indexes that are kept: those of some dozen large lists. */
const mostBytes = 48 * 1024 * 1024

/** The indexes of versions in force, made in a thread and kept for looks to come. Null where a version is not known any more. */
export const createListIndexes = (needs: { lists: Pick<HostLists, 'packed'>; threads: ListThreads }) => {
  const indexByKey = new Map<string, Promise<ListIndex | null>>()
  const sizes = new Map<string, number>()

  const load = async (list: GivenList): Promise<ListIndex | null> => {
    const packed = await needs.lists.packed(list)
    return packed && needs.threads.run('index', packed)
  }
  const forget = (key: string) => {
    indexByKey.delete(key)
    sizes.delete(key)
  }
  /** Of one list its newest version, and of all the ones that were asked for last. */
  const makeRoom = (key: string, { v4, v6 }: ListIndex) => {
    const [id] = key.split(' ')
    for (const other of [...indexByKey.keys()]) if (other !== key && other.startsWith(`${id} `)) forget(other)
    sizes.set(key, v4.length + v6.length)
    let bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0)
    for (const oldest of [...sizes.keys()]) {
      if (bytes <= mostBytes) return
      bytes -= sizes.get(oldest) ?? 0
      forget(oldest)
    }
  }
  return (list: GivenList): Promise<ListIndex | null> => {
    const key = `${list.id} ${list.version}`
    const listIndex = indexByKey.get(key) ?? load(list)
    const isNew = !indexByKey.has(key)
    indexByKey.set(key, listIndex)
    if (isNew)
      listIndex.then(
        index => (index ? makeRoom(key, index) : forget(key)),
        () => forget(key),
      )
    else if (sizes.has(key)) {
      // Sizes stand in the order of the last question.
      const size = sizes.get(key) ?? 0
      sizes.delete(key)
      sizes.set(key, size)
    }
    return listIndex
  }
}
