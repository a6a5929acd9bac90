import styles from './switch.module.css'

/** What is on or off, and is turned by a click at once. */
export const Switch = (props: { label: string; isOn: boolean; onTurn: () => void }) => (
  <input
    type="checkbox"
    role="switch"
    className={styles.switch}
    aria-label={props.label}
    checked={props.isOn}
    onChange={props.onTurn}
  />
)
