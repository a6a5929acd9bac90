import { useEffect, useState } from 'react'

/**
 * A filter that is typed and stands in the URL: typing changes the URL a moment later, and Back, a link or a chip
 * change what is typed. What the typing itself has sent does not come back over what was typed since. `merge` joins text
 * that was not sent yet with such a change (`before` and `asked` are what the URL said and says); without it the text is lost.
 */
export const useTyped = (
  asked: string,
  send: (typed: string) => void,
  options: {
    wait: number
    valid: (typed: string) => boolean
    merge?: (typed: string, before: string, asked: string) => string
  },
) => {
  const [typed, setTyped] = useState(asked)
  const [told, setTold] = useState(asked)
  const [sent, setSent] = useState(asked)
  const trimmed = typed.trim()
  const valid = options.valid(trimmed)
  if (told !== asked) {
    setTold(asked)
    if (asked !== sent) {
      setSent(asked)
      setTyped(valid && trimmed !== told ? (options.merge?.(typed, told, asked) ?? asked) : asked)
    }
  }
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
