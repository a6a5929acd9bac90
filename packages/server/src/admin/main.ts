import { run } from '@stockade/cli/run.ts'
import './program.ts'

// The reader may stop early, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
// What a command does it does also where nobody reads its remarks.
process.stderr.on('error', () => {})
process.exitCode = await run(process.argv.slice(2))
