/** The row or card that has the focus, by the name that it gives itself in `data-name`; undefined where none has. */
export const focusedRow = (): string | undefined =>
  document.activeElement?.closest<HTMLElement>('[data-row]')?.dataset.name
