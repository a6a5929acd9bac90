import type { Catalogue } from '../lib/texts/catalogue.ts'

const en = {
  label: 'Steps of the test',
  steps: {
    resolve: 'Look up the name',
    connect: 'Connect',
    tls: 'Agree on TLS',
    authenticate: 'Sign in',
    write: 'Write',
    answer: 'Answer',
  },
  done: 'Done',
  failed: 'Failed',
  notReached: 'Not reached',
  ms: (ms: string) => `${ms} ms`,
}
export const stepsTexts: Catalogue<typeof en> = { name: 'steps', en }
