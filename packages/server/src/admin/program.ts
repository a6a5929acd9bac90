import { program } from '@stockade/cli/program.ts'
import { addHostCommands } from './commands.ts'

/* The command line `stockade`, whole. */

addHostCommands(program)
export { program }
