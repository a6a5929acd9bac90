import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Config } from '../config.ts'
import type { BackupRunner, BackupTask, SavedBackup, TaskOutcome, VerifiedBackup } from '../features/backups/task.ts'

/** Runs each task of scheduled backups as a process of its own, see scheduled.ts. */
export const createBackupRunner = (config: Config): BackupRunner => {
  const program = fileURLToPath(new URL('./scheduled.ts', import.meta.url))
  let child: ChildProcess | null = null
  let isStopped = false
  const run = async <Result>(task: BackupTask): Promise<TaskOutcome<Result>> => {
    if (isStopped) return null
    const scheduledProcess = spawn(process.execPath, ['--max-semi-space-size=4', program], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    child = scheduledProcess
    const ended = new Promise<string>(resolve => {
      scheduledProcess.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
      scheduledProcess.once('error', error => resolve(error.message))
    })
    // A process that ends before it has read its input says so by its end.
    scheduledProcess.stdin.on('error', () => {})
    scheduledProcess.stdin.end(JSON.stringify({ config, task }))
    const [output, end] = await Promise.all([text(scheduledProcess.stdout), ended])
    child = null
    if (output !== '') return JSON.parse(output) as TaskOutcome<Result>
    // Stopped from outside; what it left is swept before the next one.
    if (isStopped) return null
    return { isDone: false, problem: `The process ended before it was done (${end}).` }
  }
  return {
    save: task => run<SavedBackup>(task),
    verify: task => run<VerifiedBackup>(task),
    stop() {
      isStopped = true
      child?.kill('SIGTERM')
    },
  }
}
