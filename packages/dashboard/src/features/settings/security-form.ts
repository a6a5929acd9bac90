import type { Reply } from '@stockade/client'
import { keysOf, pick } from '@stockade/contract/records.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { settingsTexts } from './settings.texts.ts'
import { asTyped, readTimeout, readWhole } from './typed.ts'

export type Security = Reply<'GET /settings'>['security']

/** The settings as the form holds them. */
export const typedOf = (is: Security) => ({
  ...is,
  session_timeout: asTyped(is.session_timeout),
  password_min_length: String(is.password_min_length),
})
export type TypedSecurity = ReturnType<typeof typedOf>

/** Null for what can't be read. */
const readLength = (typed: string) => readWhole(typed, 8, 128)

export const problemsOf = (typed: TypedSecurity) => {
  const t = textsOf(settingsTexts)
  return {
    session_timeout: readTimeout(typed.session_timeout) === null ? t.timeoutWrong : undefined,
    password_min_length: readLength(typed.password_min_length) === null ? t.lengthWrong : undefined,
  }
}

export const fieldsOf = () => {
  const t = textsOf(settingsTexts)
  return {
    session_timeout: t.timeout,
    password_min_length: t.length,
    mfa_required: t.factor,
    passkey_required: { label: t.passkey, say: (value: Security['passkey_required']) => t.passkeyFor[value] },
    refuse_common_passwords: t.common,
    own_unban: t.ownUnban,
    self_tests: { label: t.selfTests, say: (value: Security['self_tests']) => t.selfTestsAt[value] },
  }
}

/** What is to be sent: the settings that differ and can be read. */
export const bodyOf = (is: Security, typed: TypedSecurity): Partial<Security> => {
  const newValues: Security = {
    ...typed,
    session_timeout: readTimeout(typed.session_timeout) ?? is.session_timeout,
    password_min_length: readLength(typed.password_min_length) ?? is.password_min_length,
  }
  return pick(
    newValues,
    keysOf(newValues).filter(name => newValues[name] !== is[name]),
  )
}
