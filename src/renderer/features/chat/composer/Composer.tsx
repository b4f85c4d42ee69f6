import { ArrowUp, BookText, Paperclip, Square, TriangleAlert, X } from 'lucide-react'
import {
  type ComponentProps,
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
import { type Draft, readDraft, storeDraft } from './drafts.ts'
import { EstimateLine } from './EstimateLine.tsx'
import { SendFailure } from './SendFailure.tsx'
import { ToolsMenu } from './ToolsMenu.tsx'
import { type RefusedFile, useAttachments } from './useAttachments.ts'
import { useFileDrop } from './useFileDrop.ts'
import { useMessageSend } from './useMessageSend.ts'

/** Delay before the draft is stored. It is also stored before the page or the composer unloads. */
const saveDraftDelayMs = 400

export type ComposerHandle = { focus(): void }

type ComposerProps = {
  /** Conversation id, or `new`, under which the draft is stored. */
  place: string
  conversationId: ConversationId | null
  parentId: MessageId | null
  models: readonly string[]
  onModels: (models: string[]) => void
  /** Rejects if the message was not sent. The draft is then restored. */
  onSend: (draft: Draft) => Promise<void>
  /** Stops the response in progress, if any. */
  onStop: (() => void) | undefined
  onLimits: () => void
  tools: ChatTools
  onTools: (tools: Partial<ChatTools>) => void
  onToolSettings?: () => void
  /** Whether sending is currently blocked. */
  stopped?: boolean
  children?: ReactNode
  ref?: Ref<ComposerHandle>
}

/** Message editor. Typing re-renders only this component. */
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
  const field = useRef<HTMLTextAreaElement>(null)
  const place = useRef<HTMLDivElement>(null)
  const dropping = useFileDrop(place, (dropped) => void add(dropped))
  useImperativeHandle(ref, () => ({ focus: () => field.current?.focus() }))
  const write = (text: string) => setDraft((before) => ({ ...before, text }))
  const prompts = usePromptMenu({
    text: draft.text,
    onText(text) {
      write(text)
      requestAnimationFrame(() => field.current?.focus())
    },
  })

  const isEmpty = draft.text.trim() === '' && draft.attachments.length === 0
  const submission = useMessageSend({
    draft,
    setDraft,
    isReady: !isEmpty && uploading === 0 && models.length > 0 && !stopped,
    isRunning: onStop !== undefined,
    onStart: forgetRefused,
    onSend,
  })
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing || prompts.onKeyDown(event)) return
    if (event.key === 'Escape' && onStop) {
      event.preventDefault()
      onStop()
    }
    if (event.key !== 'Enter' || event.shiftKey || event.altKey) return
    event.preventDefault()
    if (onStop && !isEmpty) submission.queue()
    else submission.send()
  }

  return (
    <div ref={place} className="mx-auto w-full max-w-200 px-6 pb-3 max-narrow:px-3">
      {children}
      {submission.failure !== undefined && (
        <SendFailure failure={submission.failure} onClose={submission.dismissFailure} onLimits={onLimits} />
      )}
      {submission.isQueued && <QueuedNotice onCancel={submission.unqueue} />}
      <RefusedFiles files={refused} onClose={forgetRefused} />
      <form
        aria-label="New message"
        onSubmit={(event) => {
          event.preventDefault()
          submission.send()
        }}
        className={joinClassNames(
          'relative rounded-dialog border bg-control shadow-control focus-within:border-accent',
          dropping ? 'border-accent bg-accent-soft' : 'border-edge',
        )}
      >
        {prompts.menu}
        <AttachmentChips attachments={draft.attachments} uploading={uploading} onRemove={remove} />
        <MessageField
          ref={field}
          placeholder={dropping ? 'Drop files to attach them' : 'Message… (/ for prompts)'}
          value={draft.text}
          onChange={(event) => write(event.target.value)}
          onKeyDown={onKeyDown}
          onFiles={(pasted) => void add(pasted)}
          {...prompts.fieldProps}
        />
        <div className="flex flex-wrap items-center gap-x-1 px-2 pb-2">
          <AttachButton onFiles={(chosen) => void add(chosen)} />
          <IconButton label="Insert a prompt" icon={BookText} onClick={prompts.open} />
          <ModelPicker chosen={models} onChange={onModels} />
          <ToolsMenu tools={tools} onTools={onTools} onMore={onToolSettings} />
          <span className="flex-1" />
          <MessageEstimate conversationId={conversationId} parentId={parentId} draft={draft} models={models} />
          <SendButton canSend={submission.canSend} onStop={onStop} />
        </div>
      </form>
      {prompts.dialog}
    </div>
  )
}

function QueuedNotice({ onCancel }: { onCancel: () => void }) {
  return (
    <div role="status" className="mb-2 flex items-center gap-2.5 rounded-card border border-line bg-panel px-3 py-1.5">
      <p className="min-w-0 flex-1 text-muted">Sends when this response is complete.</p>
      <Button size="small" variant="ghost" onClick={onCancel}>
        Don’t send
      </Button>
    </div>
  )
}

type MessageFieldProps = ComponentProps<'textarea'> & { onFiles: (files: File[]) => void }

/** Text field that grows with its content. `onFiles` receives pasted files. */
function MessageField({ onFiles, ...props }: MessageFieldProps) {
  return (
    <textarea
      dir="auto"
      aria-label="Message"
      rows={1}
      onPaste={(event) => {
        const pasted = [...event.clipboardData.files]
        // Spreadsheets and text processors add an image of the copied text.
        if (pasted.length === 0 || event.clipboardData.types.includes('text/plain')) return
        event.preventDefault()
        onFiles(pasted)
      }}
      {...props}
      className="user-text block field-sizing-content max-h-[40vh] min-h-10 w-full resize-none bg-transparent px-3.5 pt-2.5 pb-1 outline-none"
    />
  )
}

function AttachButton({ onFiles }: { onFiles: (files: File[]) => void }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <IconButton label="Attach files" icon={Paperclip} onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to attach"
        tabIndex={-1}
        onChange={({ target }) => {
          const chosen = [...(target.files ?? [])]
          target.value = '' // allows selecting the same file again
          onFiles(chosen)
        }}
      />
    </>
  )
}

type MessageEstimateProps = Pick<ComposerProps, 'conversationId' | 'parentId' | 'models'> & { draft: Draft }

function MessageEstimate({ conversationId, parentId, draft, models }: MessageEstimateProps) {
  const estimate = useEstimate({
    conversationId,
    parentId,
    text: draft.text,
    attachmentIds: draft.attachments.map(({ id }) => id as AttachmentId),
    models,
  })
  return <EstimateLine estimate={estimate} />
}

type SendButtonProps = { canSend: boolean; onStop: (() => void) | undefined }

/** Sends the message, or stops the response in progress. */
function SendButton({ canSend, onStop }: SendButtonProps) {
  if (onStop) {
    return <IconButton label="Stop" icon={Square} onClick={onStop} className="ml-auto bg-selected text-text!" />
  }
  return (
    <button
      type="submit"
      aria-label="Send"
      disabled={!canSend}
      className="ml-auto inline-flex size-7 shrink-0 items-center justify-center rounded-control bg-accent-solid text-on-solid hover:not-disabled:bg-accent-solid-hover disabled:bg-selected disabled:text-faint"
    >
      <ArrowUp aria-hidden className="size-4" />
    </button>
  )
}

function RefusedFiles({ files, onClose }: { files: readonly RefusedFile[]; onClose: () => void }) {
  if (files.length === 0) return null
  return (
    <div
      role="alert"
      className="mb-2 flex items-start gap-2.5 rounded-card border border-line bg-negative-soft py-1.5 pr-1.5 pl-3"
    >
      <TriangleAlert aria-hidden className="mt-1 size-4 shrink-0 text-negative" />
      <div className="min-w-0 flex-1 py-0.5">
        <p className="font-medium">
          {files.length === 1 ? 'Could not attach a file' : `Could not attach ${files.length} files`}
        </p>
        <ul
          // Scrolls by itself, so the keyboard must reach it.
          // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
          tabIndex={0}
          aria-label="Files that were not attached"
          className="max-h-32 overflow-y-auto max-narrow:max-h-16"
        >
          {files.map(({ name, reason }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: names may repeat, and the list does not change
            <li key={index} className="break-words">
              {name}: <span className="text-muted">{reason}</span>
            </li>
          ))}
        </ul>
      </div>
      <IconButton size="small" label="Dismiss" icon={X} onClick={onClose} />
    </div>
  )
}

/** @param place conversation id or `new`; the component is keyed by it */
function useDraft(place: string) {
  const [draft, setDraft] = useState<Draft>(() => readDraft(place))
  const keep = useEffectEvent(() => storeDraft(place, draft))
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change restarts the delay
  useEffect(() => {
    const timer = setTimeout(keep, saveDraftDelayMs)
    return () => clearTimeout(timer)
  }, [draft])
  useEffect(() => {
    const flush = () => keep()
    window.addEventListener('pagehide', flush)
    return () => {
      window.removeEventListener('pagehide', flush)
      flush()
    }
  }, [])
  return [draft, setDraft] as const
}
