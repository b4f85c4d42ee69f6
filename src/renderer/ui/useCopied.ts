import { useEffect, useState } from 'react'
import { copyText } from './copyText.ts'

/** Copies `text`. `copied` is true for a moment afterwards. */
export function useCopied(text: string): { copied: boolean; copy: () => Promise<void> } {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1500)
    return () => clearTimeout(timer)
  }, [copied])
  return { copied, copy: () => copyText(text).then(setCopied) }
}
