import { useState } from 'react'
import { textsOf } from '../lib/texts/catalogue.ts'
import { commonTexts } from '../lib/texts/common.texts.ts'
import { around, clip } from '../lib/clip.ts'
import parts from './parts.module.css'

/** A text that a host or a stranger chose: isolated in its direction, cut where it would flood the page. */
export const Stranger = ({ text, most = 120 }: { text: string; most?: number }) => {
  const { shown, cut } = clip(text, most)
  return (
    <bdi title={cut ? clip(text, 2000).shown : undefined}>
      {shown}
      {cut && '…'}
    </bdi>
  )
}

/** Log lines, or a command's output, as plain text; the address in them is marked. */
export const Lines = ({ text, address = '', label }: { text: string; address?: string; label: string }) => {
  const t = textsOf(commonTexts)
  const [all, setAll] = useState(false)
  const { shown, cut } = clip(text, all ? 65_536 : 2000)
  return (
    <>
      {/* It scrolls, so the keyboard has to reach it. */}
      <pre className={parts.lines} dir="ltr" tabIndex={0} aria-label={label} role="region">
        {around(shown, address).map((part, index) => (index % 2 === 1 ? <mark key={index}>{part}</mark> : part))}
        {cut && '…'}
      </pre>
      {(cut || all) && (
        <button type="button" className={parts.quiet} onClick={() => setAll(!all)}>
          {all ? t.less : t.more}
        </button>
      )}
    </>
  )
}
