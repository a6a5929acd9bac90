import type { ColumnType } from 'kysely'

/** 4 or 16 bytes. */
export type Bytes = ColumnType<Uint8Array, Uint8Array, Uint8Array>
