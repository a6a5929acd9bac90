import { Failure, Misuse } from '@stockade/cli/failure.ts'
import { print, printJson } from '@stockade/cli/print.ts'
import type { program } from '@stockade/cli/program.ts'
import { errorText } from '@stockade/contract/error-code.ts'
import { ConfigError } from '../config-reader.ts'
import type { IssueOptions } from './license.ts'
import type * as AllTasks from './tasks.ts'
import type { BackupOptions, OpenOptions, Outcome, Say } from './tasks.ts'

/*
 * The commands of the server's own host. Each loads what it works with when it runs: the storage, the API's shapes and encryption take most
 * of the time of a short command.
 */

type Program = typeof program
type Tasks = typeof AllTasks
const failureOf = (error: unknown): Error => {
  if (error instanceof Misuse || error instanceof Failure) return error
  const message = errorText(error)
  return new Failure(error instanceof ConfigError ? `the configuration: ${message}` : message)
}
/** Runs a task, and prints what it says or, with `--json`, its value alone. */
const task = <Given extends readonly unknown[]>(work: (tasks: Tasks, say: Say, ...given: Given) => Promise<Outcome>) =>
  async function (this: Program, ...given: Given): Promise<void> {
    const { json } = this.optsWithGlobals<{ json?: boolean }>()
    try {
      const { value, failure } = await work(await import('./tasks.ts'), json ? () => {} : print, ...given)
      if (json) printJson(value)
      if (failure !== undefined) throw new Failure(failure)
    } catch (error) {
      throw failureOf(error)
    }
  }
/** The same for what works on the storage: as the user and with the settings of the service. */
const storageTask = <Given extends readonly unknown[]>(
  work: (tasks: Tasks, say: Say, ...given: Given) => Promise<Outcome>,
) =>
  task<Given>(async (tasks, say, ...given) => {
    const { becomeService } = await import('./service-user.ts')
    becomeService()
    return work(tasks, say, ...given)
  })

const addRecovery = (program: Program): void => {
  const admin = program.command('admin').description('ways back in, and the sums of bans')
  admin
    .command('setup-code')
    .description('make a new one-time link for the first administrator; the one before is void')
    .action(storageTask((tasks, say) => tasks.makeSetupLink(say)))
  admin
    .command('reset-password')
    .description('make a temporary password, and end the sessions of that user')
    .argument('<username>')
    .option('--password-login', 'also let passwords sign in again, where the settings allow providers only')
    .action(
      storageTask((tasks, say, username: string, { passwordLogin }: { passwordLogin?: boolean }) =>
        tasks.resetPassword(say, username, passwordLogin === true),
      ),
    )
  admin
    .command('reset-mfa')
    .description('turn the 2FA of that user off, and end the sessions')
    .argument('<username>')
    .action(storageTask((tasks, say, username: string) => tasks.resetMfa(say, username)))
  admin
    .command('recount')
    .description('compare the sums of bans with the bans, as far back as they are kept; exits 1 when they differ')
    .option('--repair', 'write them anew; reports of bans wait as long as that takes')
    .action(storageTask((tasks, say, { repair }: { repair?: boolean }) => tasks.compareSums(say, repair === true)))
}

const passphrase = ['--passphrase-file <file>', 'a file whose first line is the passphrase'] as const
const identity = ['--identity <file>', 'a file with the age identity that opens it'] as const
const addBackups = (program: Program): void => {
  const backup = program
    .command('backup')
    // What follows "verify" belongs to it: both have a passphrase.
    .enablePositionalOptions()
    .description('save everything, of one moment, into one file, while the server goes on')
    .argument('<file>', 'a file that is not there yet, or - for standard output')
    .option('--recipient <recipient>', 'encrypt (age) to this public key, age1...')
    .option(...passphrase)
    .option('--plain', 'do not encrypt: the file holds secrets')
    .action(storageTask((tasks, say, file: string, options: BackupOptions) => tasks.save(say, file, options)))
  backup
    .command('verify')
    .description('restore a backup into a temporary folder (TMPDIR), compare it with the file, and remove it')
    .argument('<file>')
    .option(...identity)
    .option(...passphrase)
    .action(storageTask((tasks, say, file: string, options: OpenOptions) => tasks.verify(say, file, options)))
  program
    .command('restore')
    .description(
      'put a backup, or a copy that an upgrade made of the SQLite database, in place; the server must be stopped',
    )
    .argument('<file>')
    .option('--replace', 'also where the installation is in use')
    .option(...identity)
    .option(...passphrase)
    .action(
      storageTask((tasks, say, file: string, options: OpenOptions & { replace?: boolean }) =>
        tasks.putBack(say, file, options, options.replace === true),
      ),
    )
}

const addAuthority = (program: Program): void => {
  const license = program.commands.find(command => command.name() === 'license') ?? program.command('license')
  license.commandsGroup('Commands of a licence authority:')
  license
    .command('keygen')
    .description('make the pair of a licence authority; servers trust it by STOCKADE_LICENSE_PUBLIC_KEY')
    .requiredOption('--out <folder>', 'where the two files go')
    .action(task((tasks, say, { out }: { out: string }) => tasks.makeLicenseKeys(say, out)))
  license
    .command('issue')
    .description('print a licence key and nothing else')
    .requiredOption('--private-key <file>', 'of the authority')
    .requiredOption('--tier <tier>', 'such as pro')
    .requiredOption('--to <name>', 'whom it is for')
    .option('--servers <number>', 'servers that it covers, when other than usual for the tier')
    .option('--expires <date>', 'its last day (UTC), or a moment; without one it never expires')
    .action(task((tasks, say, options: IssueOptions) => tasks.issueLicense(say, options)))
}

/** Adds them to the commands that speak to a server. */
export const addHostCommands = (program: Program): void => {
  addAuthority(program)
  program.commandsGroup('Commands on the host of the server, with its STOCKADE_* environment:')
  program
    .command('serve')
    .description('run the server until it is stopped')
    .action(async () => {
      await import('../main.ts')
    })
  program
    .command('doctor')
    .description('check the installation; exits 1 when something fails')
    .action(storageTask((tasks, say) => tasks.doctor(say)))
  addBackups(program)
  addRecovery(program)
  program
    .command('audit')
    .description('the audit log')
    .command('verify')
    .description('say whether anything of it was changed, removed or cut off; exits 1 when something was')
    .action(storageTask((tasks, say) => tasks.verifyChain(say)))
  program
    .command('geoip')
    .description('data of cities and networks')
    .command('update')
    .description(
      "fetch them (DB-IP's free edition, or the MMDB files that you name); a server that runs takes them over",
    )
    .option('--city <url>', 'of another file of cities')
    .option('--asn <url>', 'of another file of networks')
    .action(storageTask((tasks, say, urls: { city?: string; asn?: string }) => tasks.updateGeoData(say, urls)))
}
