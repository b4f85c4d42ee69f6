import { useQueryClient } from '@tanstack/react-query'
import { useContext, useEffect, useState } from 'react'
import { useLiveEvent } from '#renderer/api/liveEvents.ts'
import type { SandboxList } from '#renderer/api/sandboxes/sandboxList.ts'
import { sandboxesKey } from '#renderer/api/sandboxes/useSandboxes.ts'
import {
  type AttentionRequests,
  type TerminalCall,
  TerminalCallsContext,
} from '#renderer/api/terminals/attentionRequests.ts'
import { goTo } from '#renderer/ui/route.ts'
import { notify } from '#renderer/ui/toast.tsx'
import type { LocalEvent } from '#shared/contract/localApi.ts'
import { areNotificationsAllowed } from '../view/bell.ts'
import { readPreferences } from '../view/preferences/preferencesStore.ts'

/**
 * Maximum number of simultaneous notices. Further calls are only marked, so that one sandbox cannot cover the screen.
 */
const maxNotices = 3

/**
 * Shows a notice once for each request for attention, or a system notification while the window is in the background.
 */
export function useCallNotices(): void {
  const calls = useContext(TerminalCallsContext)
  const queryClient = useQueryClient()
  const [notices] = useState(() => new Map<string, () => void>())

  useLiveEvent((event) => {
    const call = findCall(event)
    if (calls && call?.text === '' && !readPreferences().bellMark) return
    if (calls && call) {
      if (!calls.called(call) || call.text === '' || notices.size >= maxNotices) return
      const names = queryClient.getQueryData<SandboxList>(sandboxesKey)
      notices.set(call.terminalId, tell(call, names?.find(({ id }) => id === call.sandboxId)?.name))
    } else if (calls) forgetEnded(calls, event)
  })

  useEffect(() => {
    if (!calls) return
    const takeBack = () => {
      const waiting = new Set<string>(calls.list().map(({ terminalId }) => terminalId))
      for (const [id, end] of [...notices]) {
        if (waiting.has(id)) continue
        notices.delete(id)
        end()
      }
    }
    return calls.subscribe(takeBack)
  }, [calls, notices])
}

function findCall(event: LocalEvent): TerminalCall | undefined {
  const isCall = event.type === 'terminal.called' || (event.type === 'terminal.output' && event.bell)
  if (!isCall) return undefined
  const text = event.type === 'terminal.called' ? event.text || 'Needs you' : ''
  return { sandboxId: event.sandbox_id, terminalId: event.session_id, text }
}

function forgetEnded(calls: AttentionRequests, event: LocalEvent): void {
  if (event.type === 'terminal.removed') calls.forget(({ terminalId }) => terminalId === event.session_id)
  if (event.type === 'sandbox.removed') calls.forget(({ sandboxId }) => sandboxId === event.id)
}

/** @returns a function that dismisses the notice */
function tell({ sandboxId, terminalId, text }: TerminalCall, sandbox = 'a sandbox'): () => void {
  const title = `A program in ${sandbox} needs you`
  const show = () => goTo('terminals', sandboxId, 'terminal', terminalId)
  if (document.hasFocus()) return notify.asked(title, { hint: text, action: { label: 'Show', run: show } })
  if (!readPreferences().callNotification || !areNotificationsAllowed()) return () => {}
  const notification = new Notification(title, { body: text, tag: terminalId, silent: true })
  notification.addEventListener('click', () => {
    window.focus()
    show()
  })
  return () => notification.close()
}
