const kinds = {
  csv: ['text/csv', 'csv'],
  json: ['application/json', 'json'],
  plain: ['text/plain', 'txt'],
} as const

/** Hands a text to the browser as a file of bans. */
export const saveAs = (text: string, format: keyof typeof kinds): void => {
  const [type, ending] = kinds[format]
  const address = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = address
  link.download = `bans.${ending}`
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 1000)
}
