import { useEffect, useState } from 'react'
import { copyText } from './copyText.ts'

/** Copies `text`, and tells for a moment that it did. */
export function useCopied(text: string): { copied: boolean; copy: () => Promise<void> } {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1500)
    return () => clearTimeout(timer)
  }, [copied])
  return { copied, copy: () => copyText(text).then(setCopied) }
}
