import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  title: '2FA',
  code: 'Code from your authenticator app',
  codeHelp: 'Six digits. They are sent as soon as the last one is typed.',
  backup: 'Backup code',
  backupHelp: 'One of the ten codes that you saved, such as abcde-fghjk. Each works once.',
  useBackup: 'Use a backup code',
  useApp: 'Use the authenticator app',
  submit: 'Sign in',
  back: 'Back to the password',
  wrong: (said: string, left: number) =>
    `${said} ${plural(left, { one: 'One more try.', other: `${left} more tries.` })}`,
  fill: 'Enter the code.',
  serverTime: (time: string) => `The server’s clock says ${time}.`,
  clockDiffers: (time: string) =>
    `The clock of this device says ${time}. Codes depend on the time: if the authenticator runs on this device, set its clock.`,
  limited: (seconds: number) => `Too many wrong codes. Try again in ${seconds} s.`,
}
export const secondFactorTexts: Catalogue<typeof en> = { name: 'second-factor', en }
