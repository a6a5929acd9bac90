import { useEffect, useState } from 'react'

/**
 * A filter that is typed and stands in the URL: typing changes the URL a moment later, and Back, a link or a chip
 * change what is typed. What the typing itself has sent does not come back over what was typed since.
 */
export const useTyped = (
  asked: string,
  send: (typed: string) => void,
  options: { wait: number; valid: (typed: string) => boolean },
) => {
  const [typed, setTyped] = useState(asked)
  const [told, setTold] = useState(asked)
  const [sent, setSent] = useState(asked)
  if (told !== asked) {
    setTold(asked)
    if (asked !== sent) {
      setSent(asked)
      setTyped(asked)
    }
  }
  const trimmed = typed.trim()
  const valid = options.valid(trimmed)
  const apply = () => {
    if (trimmed === asked || trimmed === sent) return
    setSent(trimmed)
    send(trimmed)
  }
  useEffect(() => {
    if (!valid) return
    const timer = setTimeout(apply, options.wait)
    return () => clearTimeout(timer)
  })
  return { typed, trimmed, valid, setTyped, apply }
}
