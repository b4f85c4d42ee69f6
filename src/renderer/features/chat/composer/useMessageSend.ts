import { type Dispatch, type SetStateAction, useEffect, useEffectEvent, useState } from 'react'
import { type Draft, emptyDraft } from './drafts.ts'

type MessageSendOptions = {
  draft: Draft
  setDraft: Dispatch<SetStateAction<Draft>>
  /** Whether the draft can be sent once no message is being sent or generated. */
  isReady: boolean
  isRunning: boolean
  /** Called before the message is sent. */
  onStart: () => void
  /** Rejects if the message was not sent. */
  onSend: (draft: Draft) => Promise<void>
}

/** Sends the draft immediately, or when the current response is complete. Restores the draft if sending fails. */
export function useMessageSend({ draft, setDraft, isReady, isRunning, onStart, onSend }: MessageSendOptions) {
  const [failure, setFailure] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const [isQueued, setQueued] = useState(false)
  const canSend = isReady && !busy && !isRunning
  const send = async () => {
    if (!canSend) return
    setBusy(true)
    setFailure(undefined)
    onStart()
    const sent = draft
    setDraft(emptyDraft)
    try {
      await onSend(sent)
    } catch (refusal) {
      setDraft((written) => (written.text === '' && written.attachments.length === 0 ? sent : written))
      setFailure(refusal)
    } finally {
      setBusy(false)
    }
  }
  const sendQueued = useEffectEvent(() => {
    setQueued(false)
    void send()
  })
  useEffect(() => {
    if (isQueued && !isRunning) sendQueued()
  }, [isQueued, isRunning])
  return {
    canSend,
    send: () => void send(),
    isQueued,
    queue: () => setQueued(true),
    unqueue: () => setQueued(false),
    failure,
    dismissFailure: () => setFailure(undefined),
  }
}
