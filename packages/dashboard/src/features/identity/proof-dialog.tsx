import { useState } from 'react'
import type { FormEvent } from 'react'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { api, statusOf } from '../../api/client.ts'
import type { ProofAsked } from '../../api/proof.ts'
import { mayBeWrong } from '../../api/queries.ts'
import { Field } from '../../kit/field.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal, sentenceOf } from '../../kit/trouble.tsx'
import { ownAddress } from '../../lib/place.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { PasswordInput } from '../sign-in/password-input.tsx'
import { identityTexts } from './identity.texts.ts'
import { PasskeyButton } from './passkey-button.tsx'
import { proveByPasskey } from './passkeys.ts'
import { passkeysTexts } from './passkeys.texts.ts'

/** Asks for the password or a code, or sends to the provider, before something dangerous is done. */
const ProofDialog = ({ methods, answer }: ProofAsked) => {
  const { proof: t, password: words, providers } = textsOf(identityTexts)
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const [missing, setMissing] = useState(false)
  const typed = { ...(password === '' ? {} : { password }), ...(code === '' ? {} : { code: code.trim() }) }
  const nothing = password === '' && code === ''
  const run = useMutation({
    meta: mayBeWrong,
    mutationFn: () => api.call('POST /auth/step-up', { body: typed }),
    onSuccess: () => answer(true),
  })
  const provider = methods.find(method => method === 'provider_a' || method === 'provider_b')
  const byHand = methods.includes('password') || methods.includes('totp')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setMissing(nothing && byHand)
    // The provider's sign-in in the other tab has proved it: the request tells.
    if (nothing && !byHand && provider) answer(true)
    else if (!nothing && !run.isPending) run.mutate()
  }
  const wrong = statusOf(run.error) === 401 ? sentenceOf(run.error) : undefined
  return (
    <Dialog title={t.title} onClose={() => answer(false)}>
      <form className={parts.form} onSubmit={submit} noValidate>
        <p>{t.text}</p>
        {methods.includes('password') && (
          <Field label={words.yours} error={missing ? words.missing : code === '' ? wrong : undefined}>
            {ids => <PasswordInput ids={ids} value={password} onValue={setPassword} autoComplete="current-password" />}
          </Field>
        )}
        {methods.includes('totp') && (
          <Field label={methods.includes('password') ? t.orCode : t.code} error={code === '' ? undefined : wrong}>
            {ids => (
              <input
                {...ids}
                className={parts.input}
                name="code"
                autoComplete="one-time-code"
                autoCapitalize="none"
                autoCorrect="off"
                spellCheck={false}
                dir="ltr"
                value={code}
                onChange={event => setCode(event.currentTarget.value)}
              />
            )}
          </Field>
        )}
        {methods.includes('passkey') && (
          <PasskeyButton words={textsOf(passkeysTexts).use} act={proveByPasskey} onDone={() => answer(true)} />
        )}
        {provider && (
          <p>
            <a href={`${ownAddress}/api/v1/auth/${provider}`} target="_blank" rel="noopener">
              {t.provider(providers[provider])}
            </a>{' '}
            {t.providerThen}
          </p>
        )}
        {wrong === undefined && <Refusal error={run.error} />}
        <div className={parts.row}>
          {(byHand || provider) && (
            <Button type="submit" loading={run.isPending}>
              {t.go}
            </Button>
          )}
          <Button variant="default" onClick={() => answer(false)}>
            {textsOf(commonTexts).cancel}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
export default ProofDialog
