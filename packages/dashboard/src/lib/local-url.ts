/** Whether a URL means the machine itself, so that no other machine reaches Stockade by it. */
export const isLocal = (address: string): boolean => {
  const host = URL.parse(address)?.hostname ?? ''
  return (
    host === 'localhost' || host.endsWith('.localhost') || /^127\./.test(host) || host === '[::1]' || host === '0.0.0.0'
  )
}
