import { useState } from 'react'
import type { FormEvent } from 'react'
import { Button } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { Field } from '../../kit/field.tsx'
import { Page } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { plainText } from '../../kit/plain-text.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { InPlace } from './in-place.tsx'
import { findAddress, tooLarge } from './read-address.ts'
import { ipTexts } from './ip.texts.ts'
import { StartingPoints } from './starting-points.tsx'
import styles from './ip.module.css'

/** What is wrong with what was typed, in words. */
export const problemOf = (typed: string): string => {
  const t = textsOf(ipTexts)
  const large = tooLarge(typed)
  return large ? t.tooLarge(typed.trim(), large.part, t.places[large.place - 1] ?? '') : t.wrong
}

/** The field that takes an address in any form and goes to its page. */
export const LookUpField = (props: { given?: string; error?: string; onTyped?: (typed: string) => void }) => {
  const { given = '', error, onTyped } = props
  const t = textsOf(ipTexts)
  const navigate = useNavigate()
  const [typed, setTyped] = useState(given)
  const [wrong, setWrong] = useState(error)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const address = findAddress(typed)
    if (!address) return setWrong(problemOf(typed))
    setWrong(undefined)
    void navigate({ to: '/ip/$addr', params: { addr: address.ip }, search: address.part ? { taken: '1' } : {} })
  }
  return (
    <form className={styles.search} onSubmit={submit} role="search" noValidate>
      <Field label={t.label} help={t.help} error={wrong}>
        {ids => (
          <input
            {...ids}
            className={parts.input}
            type="text"
            {...plainText}
            dir="ltr"
            enterKeyHint="search"
            value={typed}
            onChange={event => {
              setTyped(event.currentTarget.value)
              onTyped?.(event.currentTarget.value)
            }}
          />
        )}
      </Field>
      <Button type="submit" variant="default" mt={24}>
        {t.go}
      </Button>
    </form>
  )
}

export const LookUp = () => {
  const t = textsOf(ipTexts)
  const [typed, setTyped] = useState('')
  return (
    <Page title={t.title}>
      <LookUpField onTyped={setTyped} />
      <InPlace typed={typed} />
      {typed === '' && <StartingPoints />}
    </Page>
  )
}
