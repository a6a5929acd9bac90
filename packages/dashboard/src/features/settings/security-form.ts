import type { Reply } from '@stockade/client'
import { number } from '../../lib/numbers.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { settingsTexts } from './settings.texts.ts'
import { asTyped, readTimeout, readWhole } from './typed.ts'

export type Security = Reply<'GET /settings'>['security']

/** The settings as the form holds them. */
export const typedOf = (is: Security) => ({
  timeout: asTyped(is.session_timeout),
  length: String(is.password_min_length),
  required: is.mfa_required,
  passkey: is.passkey_required,
  common: is.refuse_common_passwords,
  tests: is.self_tests,
})
export type TypedSecurity = ReturnType<typeof typedOf>

/** Null for what can't be read. */
const readLength = (typed: string) => readWhole(typed, 8, 128)

export const errorsOf = (typed: TypedSecurity) => {
  const t = textsOf(settingsTexts)
  return {
    timeout: readTimeout(typed.timeout) === null ? t.timeoutWrong : undefined,
    length: readLength(typed.length) === null ? t.lengthWrong : undefined,
  }
}

/** What is to be sent: the settings that differ and can be read. */
export const bodyOf = (is: Security, typed: TypedSecurity): Partial<Security> => {
  const wanted: Security = {
    session_timeout: readTimeout(typed.timeout) ?? is.session_timeout,
    password_min_length: readLength(typed.length) ?? is.password_min_length,
    mfa_required: typed.required,
    passkey_required: typed.passkey,
    refuse_common_passwords: typed.common,
    self_tests: typed.tests,
  }
  const names = Object.keys(wanted) as (keyof Security)[]
  return Object.fromEntries(names.filter(name => wanted[name] !== is[name]).map(name => [name, wanted[name]]))
}

/** What the form changes, from and to, one line a setting; also what can't be saved as it is typed. */
export const changesOf = (is: Security, typed: TypedSecurity): string[] => {
  const t = textsOf(settingsTexts)
  const word = (on: boolean) => (on ? t.on : t.off)
  const before = typedOf(is)
  const isSameTime = typed.timeout.trim() === before.timeout || readTimeout(typed.timeout) === is.session_timeout
  const lines = [
    isSameTime || [t.timeout, before.timeout, typed.timeout.trim()],
    typed.length.trim() === before.length || [t.length, number(is.password_min_length), typed.length.trim()],
    typed.required === before.required || [t.factor, word(before.required), word(typed.required)],
    typed.passkey === before.passkey || [t.passkey, t.passkeyFor[before.passkey], t.passkeyFor[typed.passkey]],
    typed.common === before.common || [t.common, word(before.common), word(typed.common)],
    typed.tests === before.tests || [t.selfTests, t.selfTestsAt[before.tests], t.selfTestsAt[typed.tests]],
  ]
  return lines.flatMap(line => (line === true ? [] : [t.change(line[0] ?? '', line[1] ?? '', line[2] ?? '')]))
}
