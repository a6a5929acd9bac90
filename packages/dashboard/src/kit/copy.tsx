import { useRef, useState } from 'react'
import { Button } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { textsOf } from '../lib/texts/catalogue.ts'
import { commonTexts } from '../lib/texts/common.texts.ts'
import { announce } from './announce.tsx'
import parts from './parts.module.css'
import { usePhone } from './width.ts'

/** Copies also on plain http, where there is no clipboard to write to: there the selected text is copied by the document. */
export const copyText = async (text: string, field: HTMLTextAreaElement | null): Promise<boolean> => {
  if (navigator.clipboard && isSecureContext)
    try {
      await navigator.clipboard.writeText(text)
      return true
    } catch {
      // Refused by the browser or its policy: the field may still do.
    }
  if (!field) return false
  field.focus()
  field.select()
  return document.execCommand('copy')
}

/** A command to copy: a field with all of it selected on focus, and a button. */
export const CopyField = ({ text, label }: { text: string; label: string }) => {
  const t = textsOf(commonTexts)
  const field = useRef<HTMLTextAreaElement>(null)
  // For browsers that don't size a field by its content.
  const width = usePhone() ? 34 : 60
  const rows = text.split('\n').reduce((total, line) => total + Math.max(1, Math.ceil(line.length / width)), 0)
  const [done, setDone] = useState<'no' | 'copied' | 'by hand'>('no')
  const copy = async () => {
    const copied = await copyText(text, field.current)
    setDone(copied ? 'copied' : 'by hand')
    announce(copied ? t.copied : t.copyByHand)
  }
  return (
    <div className={parts.copy}>
      <textarea
        ref={field}
        className={parts.code}
        aria-label={label}
        readOnly
        rows={rows}
        dir="ltr"
        spellCheck={false}
        value={text}
        onFocus={event => {
          event.currentTarget.select()
          // Where it has several lines the browser shows only the one of the caret.
          event.currentTarget.scrollIntoView({ block: 'nearest' })
        }}
      />
      <Button onClick={copy} leftSection={done === 'copied' ? <IconCheck size={16} /> : <IconCopy size={16} />}>
        {done === 'copied' ? t.copied : t.copy}
      </Button>
      {done === 'by hand' && <p className={parts.help}>{t.copyByHand}</p>}
    </div>
  )
}

/** Copies a short text that is on the page anyway; on plain http through a field that is there only for it. */
export const CopyButton = ({ text, label }: { text: string; label: string }) => {
  const t = textsOf(commonTexts)
  const field = useRef<HTMLTextAreaElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const [done, setDone] = useState(false)
  const copy = async () => {
    const copied = await copyText(text, field.current)
    setDone(copied)
    announce(copied ? t.copied : t.copyByHand)
    // The field took the focus where there is no clipboard.
    if (copied) button.current?.focus()
  }
  return (
    <>
      <Button
        ref={button}
        variant="default"
        onClick={copy}
        leftSection={done ? <IconCheck size={16} /> : <IconCopy size={16} />}
      >
        {done ? t.copied : label}
      </Button>
      <textarea ref={field} className={parts.hidden} readOnly tabIndex={-1} aria-hidden="true" value={text} />
    </>
  )
}
