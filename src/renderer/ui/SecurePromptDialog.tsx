import { useQuery } from '@tanstack/react-query'
import { type RefObject, useEffect, useEffectEvent, useId, useRef, useState } from 'react'
import { openSecurePrompt, SecurePromptMessage, type SecurePromptPurpose } from '#shared/contract/wallet.ts'
import { useAgent } from '../api/AgentProvider.tsx'
import { useWallet } from '../api/useWallet.ts'
import { joinClassNames } from './classNames.ts'
import { Dialog } from './Dialog.tsx'
import { ErrorNotice } from './ErrorNotice.tsx'
import { Skeleton } from './Skeleton.tsx'
import type { SecurePromptEnd, SecurePromptRequest } from './securePromptContext.ts'
import { getTheme } from './theme/theme.ts'

type SecurePromptMessageOptions = {
  frame: RefObject<HTMLIFrameElement | null>
  url: string | undefined
  silentMs: number
  onEnd: (end: SecurePromptEnd) => void
}

type SecurePromptDialogProps = { request: SecurePromptRequest; onEnd: (end: SecurePromptEnd) => void }

/** Titles and initial heights in pixels of the first page, which prevent a layout shift after it has loaded. */
const promptLayouts: Record<SecurePromptPurpose, { title: string; height: number }> = {
  create: { title: 'Create a wallet', height: 493 },
  import: { title: 'Import a wallet', height: 533 },
  unlock: { title: 'Unlock the wallet', height: 163 },
  reveal: { title: 'Recovery phrase', height: 237 },
  export: { title: 'Export an account', height: 403 },
  remove: { title: 'Remove from the wallet', height: 363 },
  change_passphrase: { title: 'Change the passphrase', height: 345 },
  confirm: { title: 'Confirm', height: 400 },
  provider_key: { title: 'API key', height: 230 },
  server_key: { title: 'API key', height: 264 },
  tool_server_secret: { title: 'Secret', height: 264 },
  confirm_policy: { title: 'Confirm', height: 300 },
}
/** Timeout after which a page without messages is assumed to be blocked by the browser, in milliseconds. */
const messageTimeoutMs = 10_000

/**
 * Page of the wallet in a frame. The page is served from a different site, so browsers isolate it in another process:
 * code in this window cannot read its input or content.
 */
export function SecurePromptDialog({ request, onEnd }: SecurePromptDialogProps) {
  const agent = useAgent()
  const frame = useRef<HTMLIFrameElement>(null)
  const id = useId()
  const { title, height: firstHeight } = promptLayouts[request.purpose]
  const prompt = useQuery({
    queryKey: ['local', 'secure-prompt', id],
    queryFn: ({ signal }) => agent(openSecurePrompt, { ...request, theme: getTheme() }, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  })
  const url = prompt.data?.url
  const { height, isSilent } = useSecurePromptMessages({ frame, url, silentMs: messageTimeoutMs, onEnd })
  useEndWithLock(request.purpose, onEnd)

  return (
    <Dialog open onOpenChange={() => onEnd('cancelled')} title={title} staysOpen titledByContent={!prompt.error}>
      {prompt.error ? (
        <ErrorNotice error={prompt.error} onRetry={() => void prompt.refetch()} />
      ) : (
        // In a low window, the page scrolls while its buttons remain visible.
        <div className="relative min-h-0 overflow-hidden rounded-dialog" style={{ height: height ?? firstHeight }}>
          {height === undefined && <Loading isSilent={isSilent} />}
          {url !== undefined && (
            <iframe
              ref={frame}
              src={url}
              title={`${title}: protected form`}
              sandbox="allow-forms allow-scripts allow-same-origin allow-downloads"
              referrerPolicy="no-referrer"
              onLoad={() => frame.current?.focus()}
              className={joinClassNames('block size-full', height === undefined && 'opacity-0')}
            />
          )}
        </div>
      )}
    </Dialog>
  )
}

function Loading({ isSilent }: { isSilent: boolean }) {
  if (isSilent) {
    return (
      <p role="alert" className="absolute inset-0 py-3.5 pr-12 pl-4 text-muted">
        This browser cannot show this form. Use the Steward window, or a current Chrome, Edge or Firefox, and allow
        http://wallet.localhost.
      </p>
    )
  }
  return (
    <div role="status" aria-busy="true" className="absolute inset-0 flex flex-col gap-4 px-4 pt-4">
      <span className="sr-only">Opening…</span>
      <Skeleton className="h-5 w-2/5" />
      <Skeleton className="h-8" />
    </div>
  )
}

/** Closes the prompt when the wallet is locked, so that a displayed recovery phrase is hidden. */
function useEndWithLock(purpose: SecurePromptPurpose, onEnd: SecurePromptDialogProps['onEnd']): void {
  const state = useWallet().data?.state
  const [wasUnlocked, setWasUnlocked] = useState(state === 'unlocked')
  if (state === 'unlocked' && !wasUnlocked) setWasUnlocked(true)
  const ends = purpose === 'reveal' && wasUnlocked && state === 'locked'
  useEffect(() => {
    if (ends) onEnd('cancelled')
  }, [ends, onEnd])
}

/** Receives messages only from the prompt in the frame. */
function useSecurePromptMessages({ frame, url, silentMs, onEnd }: SecurePromptMessageOptions): {
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
