import { removeDurably, writeDurably } from '../files.ts'
import { writeShieldFile } from './store.ts'
import type { ShieldBan } from './store.ts'

/** The shield's two files: its state, and the table for a start of the host at which Node.js is missing. */
export interface Disk {
  /** Until when the shield is off, in the host's time; null: until it is switched on; undefined: it is on. */
  offUntil: number | null | undefined
  hasMoved: boolean
  /** Whether the state is newer than its file. */
  isUnsaved: boolean
  /** Whether the table is newer than its file. */
  isFallbackOld: boolean
  save(): void
  saveFallback(): void
}

export const createDisk = (needs: {
  file: string
  fallbackFile: string
  saved: Pick<Disk, 'hasMoved'> & { readonly offUntil?: number | null | undefined }
  bans: ReadonlyMap<string, ShieldBan>
  now: () => number
  serverNow: () => number
  isSupported: () => boolean
  /** The table as a script. */
  script: () => string
}): Disk => {
  const { bans, now, serverNow } = needs
  const disk: Disk = {
    offUntil: needs.saved.offUntil,
    hasMoved: needs.saved.hasMoved,
    isUnsaved: false,
    isFallbackOld: true,
    save() {
      const { offUntil, hasMoved } = disk
      const savedAt = serverNow()
      writeShieldFile(needs.file, { savedAt, offset: savedAt - now(), offUntil, bans: [...bans.values()], hasMoved })
      disk.isUnsaved = false
      disk.isFallbackOld = true
    },
    saveFallback() {
      if (!disk.isFallbackOld || !needs.isSupported()) return
      if (disk.offUntil === undefined) writeDurably(needs.fallbackFile, needs.script())
      else removeDurably(needs.fallbackFile)
      disk.isFallbackOld = false
    },
  }
  return disk
}
