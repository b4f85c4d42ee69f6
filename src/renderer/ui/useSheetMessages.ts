import { type RefObject, useEffect, useEffectEvent, useState } from 'react'
import { SheetMessage } from '#shared/contract/wallet.ts'
import type { SheetEnd } from './sheetContext.ts'

type Options = {
  frame: RefObject<HTMLIFrameElement | null>
  url: string | undefined
  silentMs: number
  onEnd: (end: SheetEnd) => void
}

/** Listens to messages of the prompt in the frame, and of no other page. */
export function useSheetMessages({ frame, url, silentMs, onEnd }: Options): { height?: number; isSilent: boolean } {
  const [height, setHeight] = useState<number>()
  const [isSilent, setSilent] = useState(false)
  const onMessage = useEffectEvent((event: MessageEvent<unknown>) => {
    if (url === undefined || event.origin !== new URL(url).origin) return
    if (event.source === null || event.source !== frame.current?.contentWindow) return
    const { data } = SheetMessage.safeParse(event.data)
    if (data?.type === 'steward.sheet.size') setHeight(data.height)
    if (data?.type === 'steward.sheet.done') onEnd('done')
    if (data?.type === 'steward.sheet.cancelled') onEnd('cancelled')
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
