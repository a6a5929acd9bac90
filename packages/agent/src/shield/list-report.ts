import type { DesiredList } from './list-store.ts'

/** What the kernel holds of one list. */
export interface ListReport extends Omit<DesiredList, 'entries'> {
  readonly held: number
  readonly error: string | null
}
