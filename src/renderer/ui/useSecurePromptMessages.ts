import { type RefObject, useEffect, useEffectEvent, useState } from 'react'
import { SecurePromptMessage } from '#shared/contract/wallet.ts'
import type { SecurePromptEnd } from './securePromptContext.ts'

type Options = {
  frame: RefObject<HTMLIFrameElement | null>
  url: string | undefined
  silentMs: number
  onEnd: (end: SecurePromptEnd) => void
}

/** Listens to messages of the prompt in the frame, and of no other page. */
export function useSecurePromptMessages({ frame, url, silentMs, onEnd }: Options): {
  height?: number
  isSilent: boolean
} {
  const [height, setHeight] = useState<number>()
  const [isSilent, setSilent] = useState(false)
  const onMessage = useEffectEvent((event: MessageEvent<unknown>) => {
    if (url === undefined || event.origin !== new URL(url).origin) return
    if (event.source === null || event.source !== frame.current?.contentWindow) return
    const { data } = SecurePromptMessage.safeParse(event.data)
    if (data?.type === 'steward.secure-prompt.size') setHeight(data.height)
    if (data?.type === 'steward.secure-prompt.done') onEnd('done')
    if (data?.type === 'steward.secure-prompt.cancelled') onEnd('cancelled')
  })
  useEffect(() => {
    const listener = (event: MessageEvent<unknown>) => onMessage(event)
    window.addEventListener('message', listener)
    return () => window.removeEventListener('message', listener)
  }, [])
  const isAwaited = url !== undefined && height === undefined
  useEffect(() => {
    if (!isAwaited) return
    const timer = setTimeout(() => setSilent(true), silentMs)
    return () => clearTimeout(timer)
  }, [isAwaited, silentMs])
  return { ...(height !== undefined && { height }), isSilent }
}
