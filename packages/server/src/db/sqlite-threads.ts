/** What the writer thread and its checkpointer begin with. */
export interface WriterData {
  readonly file: string
  /** Pages in the write-ahead log at which it is copied into the database file. */
  readonly mostLogged?: number
}

/** How a checkpoint ended; `failed` says why it did not succeed. */
export interface CopyReply {
  readonly failed: string | null
}
