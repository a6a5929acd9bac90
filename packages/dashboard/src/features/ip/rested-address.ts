import { useEffect, useState } from 'react'
import { findAddress } from './read-address.ts'

/** The address in what is typed, once the typing rests: the API is not asked for each letter. */
export const useRestedAddress = (typed: string): string | undefined => {
  const [rested, setRested] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setRested(typed), 250)
    return () => clearTimeout(timer)
  }, [typed])
  return rested === typed ? findAddress(typed)?.ip : undefined
}
