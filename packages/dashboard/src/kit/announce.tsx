import { createShared } from '../lib/shared.ts'
import parts from './parts.module.css'

const text = createShared('')

/** Says something to those who listen to the page; the same words again are said again. */
export const announce = (words: string): void => {
  text.set(text.get() === words ? `${words}\u00a0` : words)
}

export const Announcer = () => (
  <div className={parts.hidden} role="status" aria-live="polite">
    {text.use()}
  </div>
)
