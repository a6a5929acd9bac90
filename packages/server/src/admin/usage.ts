/** The help of the commands that work on the server's own host. */
export const usage = `Usage: stockade admin setup-code
       stockade admin reset-password USERNAME [--password-login]
       stockade admin reset-mfa USERNAME
       stockade admin recount [--repair]
       stockade backup FILE --recipient age1... | --passphrase-file FILE | --plain
       stockade backup verify FILE [--identity FILE | --passphrase-file FILE]
       stockade restore FILE [--replace] [--identity FILE | --passphrase-file FILE]
       stockade audit verify
       stockade geoip update [--city URL] [--asn URL]
       stockade license keygen --out DIR
       stockade license issue --private-key FILE --tier pro --to NAME [--servers 25] [--expires DATE]
       stockade doctor

They read the same STOCKADE_* environment as the server and work on its storage, whether it runs or not;
license needs neither.

  setup-code      a new one-time link for the first administrator
  reset-password  a temporary password; ends the sessions of that user. --password-login also lets passwords
                  sign in again, where the settings allow providers only
  reset-mfa       turns the second factor of that user off; ends the sessions of that user
  recount         compares the sums of bans with the bans, as far back as they are kept; exits 1 when they differ.
                  --repair writes them anew: reports of bans wait as long as that takes
  backup          saves everything, of one moment, into one file, while the server goes on. The file holds secrets:
                  it is encrypted (age) to a recipient or a passphrase, unless --plain is said. Nobody is signed in by it.
                  - writes it to the standard output; a file that is there already is never overwritten
  backup verify   restores a backup into a temporary folder (TMPDIR), compares it with the file, and removes it;
                  exits 1 when it could not be restored
  restore         puts a backup in place; the server must be stopped. --replace where the installation is in use.
                  A backup of SQLite goes into PostgreSQL as well, and the other way round. A copy that an upgrade made
                  of the SQLite database is taken, too
  audit verify    says whether anything of the audit log was changed, removed or cut off; exits 1 when something was
  geoip update    fetches data of cities and networks (DB-IP's free edition, or the MMDB files that you name) into
                  the data folder; a server that runs takes them over by itself
  license keygen  makes the pair of a licence authority; servers trust it by STOCKADE_LICENSE_PUBLIC_KEY
  license issue   prints a licence key and nothing else. A date includes its day (UTC); without one it never expires
  doctor          checks the installation; exits 1 when something fails
`
