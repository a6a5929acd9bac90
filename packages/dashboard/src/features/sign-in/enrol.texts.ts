import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  title: 'Set up a second factor',
  why: 'Everyone here signs in with a second factor, and your account has none yet. It takes a minute.',
  signOut: 'Sign out',
  what: 'your account',
}
export const enrolTexts: Catalogue<typeof en> = { name: 'enrol', en }
