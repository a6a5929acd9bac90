import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  title: 'Set up 2FA',
  why: 'Everyone here signs in with 2FA, and your account has none yet. It takes a minute.',
  signOut: 'Sign out',
}
export const enrolTexts: Catalogue<typeof en> = { name: 'enrol', en }
