import { ArrowUp, BookText, Paperclip, Square } from 'lucide-react'
import {
  type KeyboardEvent,
  type ReactNode,
  type Ref,
  useEffect,
  useEffectEvent,
  useImperativeHandle,
  useRef,
  useState,
} from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import type { AttachmentId, ConversationId, MessageId } from '#shared/contract/chats.ts'
import type { ChatTools } from '#shared/contract/chatTools.ts'
import { ModelPicker } from '../models/ModelPicker.tsx'
import { useEstimate } from '../money/useEstimate.ts'
import { usePromptMenu } from '../prompts/usePromptMenu.tsx'
import { AttachmentChips } from './AttachmentChips.tsx'
import { type Draft, emptyDraft } from './drafts.ts'
import { EstimateLine } from './EstimateLine.tsx'
import { RefusedFiles } from './RefusedFiles.tsx'
import { SendFailure } from './SendFailure.tsx'
import { ToolsMenu } from './ToolsMenu.tsx'
import { useAttachments } from './useAttachments.ts'
import { useDraft } from './useDraft.ts'
import { useFileDrop } from './useFileDrop.ts'

export type ComposerHandle = { focus(): void }

type ComposerProps = {
  /** Conversation, or `new`, under which the draft is stored. */
  place: string
  conversationId: ConversationId | null
  parentId: MessageId | null
  models: readonly string[]
  onModels: (models: string[]) => void
  /** Rejects with why it was not sent; what was written stays then. */
  onSend: (draft: Draft) => Promise<void>
  /** An answer is being made: this stops it. */
  onStop: (() => void) | undefined
  onLimits: () => void
  tools: ChatTools
  onTools: (tools: Partial<ChatTools>) => void
  onToolSettings?: () => void
  /** Reason why nothing can be sent now. */
  stopped?: boolean
  children?: ReactNode
  ref?: Ref<ComposerHandle>
}

/** Message editor. Typing renders this component only. */
export function Composer(props: ComposerProps) {
  const {
    place: draftPlace,
    conversationId,
    parentId,
    models,
    onModels,
    onSend,
    onStop,
    onLimits,
    tools,
    onTools,
    onToolSettings,
    stopped = false,
    children,
    ref,
  } = props
  const [draft, setDraft] = useDraft(draftPlace)
  const { add, remove, uploading, refused, forgetRefused } = useAttachments(draft, setDraft)
  const [failure, setFailure] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const files = useRef<HTMLInputElement>(null)
  const place = useRef<HTMLDivElement>(null)
  const dropping = useFileDrop(place, (dropped) => void add(dropped))
  const estimate = useEstimate({
    conversationId,
    parentId,
    text: draft.text,
    attachmentIds: draft.attachments.map(({ id }) => id as AttachmentId),
    models,
  })
  useImperativeHandle(ref, () => ({ focus: () => field.current?.focus() }))
  const write = (text: string) => setDraft((before) => ({ ...before, text }))
  const prompts = usePromptMenu({
    text: draft.text,
    onText(text) {
      write(text)
      requestAnimationFrame(() => field.current?.focus())
    },
  })

  const [queued, setQueued] = useState(false)
  const isEmpty = draft.text.trim() === '' && draft.attachments.length === 0
  const canSend = !isEmpty && !busy && uploading === 0 && onStop === undefined && models.length > 0 && !stopped
  const send = async () => {
    if (!canSend) return
    setBusy(true)
    setFailure(undefined)
    forgetRefused()
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
  const isFree = onStop === undefined
  useEffect(() => {
    if (queued && isFree) sendQueued()
  }, [queued, isFree])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing || prompts.onKeyDown(event)) return
    if (event.key === 'Escape' && onStop) {
      event.preventDefault()
      onStop()
    }
    if (event.key !== 'Enter' || event.shiftKey || event.altKey) return
    event.preventDefault()
    if (onStop && !isEmpty) setQueued(true)
    else void send()
  }

  return (
    <div ref={place} className="mx-auto w-full max-w-200 px-6 pb-3 max-narrow:px-3">
      {children}
      {failure !== undefined && (
        <SendFailure failure={failure} onClose={() => setFailure(undefined)} onLimits={onLimits} />
      )}
      {queued && (
        <div
          role="status"
          className="mb-2 flex items-center gap-2.5 rounded-card border border-line bg-panel px-3 py-1.5"
        >
          <p className="min-w-0 flex-1 text-muted">Sends when this answer ends.</p>
          <Button size="small" variant="ghost" onClick={() => setQueued(false)}>
            Don’t send
          </Button>
        </div>
      )}
      <RefusedFiles files={refused} onClose={forgetRefused} />
      <form
        aria-label="New message"
        onSubmit={(event) => {
          event.preventDefault()
          void send()
        }}
        className={joinClassNames(
          'relative rounded-dialog border bg-control shadow-control focus-within:border-accent',
          dropping ? 'border-accent bg-accent-soft' : 'border-edge',
        )}
      >
        {prompts.menu}
        <AttachmentChips attachments={draft.attachments} uploading={uploading} onRemove={remove} />
        <textarea
          ref={field}
          dir="auto"
          aria-label="Message"
          placeholder={dropping ? 'Drop files to attach them' : 'Message… (/ for prompts)'}
          value={draft.text}
          rows={1}
          onChange={(event) => write(event.target.value)}
          onKeyDown={onKeyDown}
          onPaste={(event) => {
            const pasted = [...event.clipboardData.files]
            // Spreadsheets and text processors put a picture beside the text.
            if (pasted.length === 0 || event.clipboardData.types.includes('text/plain')) return
            event.preventDefault()
            void add(pasted)
          }}
          {...prompts.fieldProps}
          className="person-text block field-sizing-content max-h-[40vh] min-h-10 w-full resize-none bg-transparent px-3.5 pt-2.5 pb-1 outline-none"
        />
        <div className="flex flex-wrap items-center gap-x-1 px-2 pb-2">
          <IconButton label="Attach files" icon={Paperclip} onClick={() => files.current?.click()} />
          <IconButton label="Insert a prompt" icon={BookText} onClick={prompts.open} />
          <ModelPicker chosen={models} onChange={onModels} />
          <ToolsMenu tools={tools} onTools={onTools} onMore={onToolSettings} />
          <span className="flex-1" />
          <EstimateLine estimate={estimate} />
          {onStop ? (
            <IconButton label="Stop" icon={Square} onClick={onStop} className="ml-auto bg-selected text-text!" />
          ) : (
            <button
              type="submit"
              aria-label="Send"
              disabled={!canSend}
              className="ml-auto inline-flex size-7 shrink-0 items-center justify-center rounded-control bg-accent-solid text-on-solid hover:not-disabled:bg-accent-solid-hover disabled:bg-selected disabled:text-faint"
            >
              <ArrowUp aria-hidden className="size-4" />
            </button>
          )}
        </div>
        <input
          ref={files}
          type="file"
          multiple
          hidden
          aria-label="Files to attach"
          tabIndex={-1}
          onChange={({ target }) => {
            const chosen = [...(target.files ?? [])]
            target.value = '' // so that the same file can be chosen again
            void add(chosen)
          }}
        />
      </form>
      {prompts.dialog}
    </div>
  )
}
