/** What is done in a process of its own, beside the server. */
export type BackupTask =
  | {
      readonly kind: 'save'
      readonly folder: string
      /** A recipient of age; null: not encrypted. */
      readonly recipient: string | null
      /** Of the backup before, to know how much room is needed. */
      readonly lastBytes: number | null
    }
  | { readonly kind: 'verify'; readonly file: string; readonly identityFile: string | null }

export interface SavedBackup {
  readonly file: string
  readonly bytes: number
  readonly rows: number
}
export interface VerifiedBackup {
  readonly rows: number
  /** Sentences; none where the backup is good. */
  readonly faults: readonly string[]
}
/** How a task ended: with a result, with a sentence, or null when it was stopped before its end. */
export type TaskOutcome<Result> =
  | { readonly isDone: true; readonly result: Result }
  | { readonly isDone: false; readonly problem: string }
  | null

/** Runs tasks, one at a time. */
export interface BackupRunner {
  save(task: Extract<BackupTask, { kind: 'save' }>): Promise<TaskOutcome<SavedBackup>>
  verify(task: Extract<BackupTask, { kind: 'verify' }>): Promise<TaskOutcome<VerifiedBackup>>
  /** Ends what runs. */
  stop(): void
}
