import parts from './parts.module.css'

/** One line in which something of a list is looked for. */
export const FindField = (props: { label: string; value: string; onValue: (typed: string) => void; most?: number }) => (
  <input
    className={parts.input}
    type="search"
    aria-label={props.label}
    placeholder={props.label}
    autoCapitalize="none"
    autoComplete="off"
    spellCheck={false}
    maxLength={props.most}
    value={props.value}
    onChange={event => props.onValue(event.currentTarget.value)}
  />
)
