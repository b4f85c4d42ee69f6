import { ArrowDown } from 'lucide-react'
import {
  memo,
  type Ref,
  type RefObject,
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { Virtualizer, type VirtualizerHandle } from 'virtua'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import type { MessageId } from '#shared/contract/chats.ts'
import { type Branch, type BranchRow, hasEarlier, hasLater, listBranchRows } from '../data/branch.ts'
import { AssistantMessageView } from './AssistantMessageView.tsx'
import { ResponseColumns } from './ResponseColumns.tsx'
import { UserMessage } from './UserMessage.tsx'

type MessageRowProps = {
  row: BranchRow
  /** Whether a link to this message was opened. */
  isSought: boolean
  isLast: boolean
}

/** Message in the column of the conversation. Side-by-side responses use the full width. */
const MessageRow = memo(
  function MessageRow({ row: { message, beside }, isSought, isLast }: MessageRowProps) {
    const isWide = beside.length > 1
    return (
      <div className={joinClassNames('mx-auto w-full px-6 pt-5 max-narrow:px-4', isWide ? 'max-w-292' : 'max-w-200')}>
        <div className={joinClassNames('rounded-card', isSought && 'outline-2 outline-offset-8 outline-accent-soft')}>
          {isWide ? (
            <ResponseColumns responses={beside} selectedId={message.id} isLast={isLast} />
          ) : message.role === 'user' ? (
            <UserMessage message={message} />
          ) : (
            <AssistantMessageView message={message} isLast={isLast} />
          )}
        </div>
      </div>
    )
  },
  (before, next) =>
    before.isSought === next.isSought &&
    before.isLast === next.isLast &&
    before.row.message === next.row.message &&
    before.row.beside.length === next.row.beside.length &&
    before.row.beside.every((it, index) => it === next.row.beside[index]),
)

export type MessageListHandle = { toEnd(): void }

type MessageListProps = {
  branch: Branch
  sought: MessageId | undefined
  onEarlier: () => Promise<void>
  onLater: () => Promise<void>
  onEnd: () => Promise<void>
  ref: Ref<MessageListHandle>
}

/** Distance from the end within which the list follows new content. */
const atEndPixels = 48
/** Distance from either end of the loaded messages at which more are loaded. */
const readAheadPixels = 1_200
/** Estimated height of a message. A lower estimate would render many messages outside the viewport. */
const defaultPixels = 120

/**
 * Virtual list of messages. Opens at the end and follows new content while the user is there. While the user reads
 * further up, nothing moves when messages are added on either side.
 */
export function MessageList({ branch, sought, onEarlier, onLater, onEnd, ref }: MessageListProps) {
  const place = useRef<HTMLDivElement>(null)
  const list = useRef<VirtualizerHandle>(null)
  const rows = listBranchRows(branch)
  const { shift } = useShift(rows[0]?.key, rows.length)
  const stuck = useRef(sought === undefined)
  const [away, setAway] = useState(false)
  const later = hasLater(branch)
  const busy = useRef(false)

  const toEnd = useFollowEnd(place, stuck)
  useImperativeHandle(ref, () => ({
    toEnd() {
      stuck.current = true
      toEnd()
    },
  }))

  useScrollToMessage(sought, { rows, list, stuck })

  const { byPerson, handlers } = useUserScrollDetection()
  const onScroll = () => {
    const element = place.current
    if (!element) return
    const left = element.scrollHeight - element.scrollTop - element.clientHeight
    const isAtEnd = left <= atEndPixels && !later
    // Measuring items also scrolls the list, so only scrolling by the user leaves the end.
    if (isAtEnd) stuck.current = true
    else if (byPerson()) stuck.current = false
    setAway(!isAtEnd && !stuck.current)
    if (busy.current) return
    const read = async (more: () => Promise<void>) => {
      busy.current = true
      await more().catch(() => {}) // retried on the next scroll
      busy.current = false
    }
    // Skipped while the list opens at its end, when most heights are estimates.
    const isUp = !isAtEnd || element.scrollTop <= 0
    if (isUp && element.scrollTop < readAheadPixels && hasEarlier(branch)) void read(onEarlier)
    else if (left < readAheadPixels && later) void read(onLater)
  }
  const jump = async () => {
    if (later) await onEnd()
    stuck.current = true
    toEnd()
  }

  return (
    <div className="relative min-h-0 flex-1">
      {/* Scrollable, so it must be focusable by keyboard. */}
      <div
        ref={place}
        onScroll={onScroll}
        {...handlers}
        data-messages
        role="log"
        aria-live="off"
        aria-label="Messages"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
        tabIndex={0}
        className="h-full overflow-y-auto overscroll-contain outline-offset-[-2px] [overflow-anchor:none]"
      >
        <div className="pb-4">
          {hasEarlier(branch) && <p className="sr-only">Earlier messages load as you scroll up.</p>}
          <Virtualizer ref={list} scrollRef={place} shift={shift} itemSize={defaultPixels} bufferSize={600}>
            {rows.map((row) => (
              <MessageRow
                key={row.key}
                row={row}
                isSought={sought !== undefined && hasMessage(row, sought)}
                isLast={row === rows.at(-1)}
              />
            ))}
          </Virtualizer>
        </div>
      </div>
      {(away || later) && (
        <IconButton
          label="Jump to the end"
          icon={ArrowDown}
          onClick={() => void jump()}
          className="animate-appear absolute! bottom-3 left-1/2 -translate-x-1/2 rounded-full! border border-edge bg-control shadow-popover"
        />
      )}
    </div>
  )
}

/** Scrolls to the end whenever the list grows while `stuck`. @returns a function that scrolls to the end */
function useFollowEnd(place: RefObject<HTMLElement | null>, stuck: RefObject<boolean>): () => void {
  const toEnd = useCallback(() => {
    const element = place.current
    if (element) element.scrollTop = element.scrollHeight
  }, [place])
  // Follows the end regardless of why the content grew.
  useLayoutEffect(() => {
    const element = place.current
    const content = element?.firstElementChild
    if (!element || !content) return
    const observer = new ResizeObserver(() => {
      if (stuck.current) toEnd()
    })
    observer.observe(content)
    observer.observe(element)
    toEnd()
    return () => observer.disconnect()
  }, [place, stuck, toEnd])
  return toEnd
}

type ScrollTarget = {
  rows: readonly BranchRow[]
  list: RefObject<VirtualizerHandle | null>
  stuck: RefObject<boolean>
}

/** Scrolls to a linked message once. */
function useScrollToMessage(sought: MessageId | undefined, { rows, list, stuck }: ScrollTarget): void {
  const index = sought === undefined ? -1 : rows.findIndex((row) => hasMessage(row, sought))
  const lastTarget = useRef<MessageId>(undefined)
  useEffect(() => {
    if (index < 0 || lastTarget.current === sought) return
    lastTarget.current = sought
    stuck.current = false
    list.current?.scrollToIndex(index, { align: 'center' })
  }, [index, sought, list, stuck])
}

function hasMessage({ message, beside }: BranchRow, id: MessageId): boolean {
  return [message, ...beside].some((it) => it.id === id)
}

/** Duration of smooth scrolling after a wheel or key event. */
const scrollSettleMs = 500

/** Detects scrolling by the user: wheel, touch, keyboard or scroll bar. */
function useUserScrollDetection() {
  const last = useRef({ at: Number.NEGATIVE_INFINITY, held: false })
  const note = () => {
    last.current.at = performance.now()
  }
  const hold = (isPinned: boolean) => () => {
    note()
    last.current.held = isPinned
  }
  return {
    byPerson: () => last.current.held || performance.now() - last.current.at < scrollSettleMs,
    handlers: {
      onWheel: note,
      onTouchMove: note,
      onKeyDown: note,
      onPointerDown: hold(true),
      onPointerUp: hold(false),
      onPointerCancel: hold(false),
      onPointerLeave: hold(false),
    },
  }
}

/** Whether rows were prepended in this render. The scroll position is then anchored to the end. */
function useShift(first: string | undefined, length: number): { shift: boolean } {
  const [previous, setPrevious] = useState({ first, length, shift: false })
  if (previous.first !== first || previous.length !== length) {
    const shift = previous.first !== first && length > previous.length
    setPrevious({ first, length, shift })
    return { shift }
  }
  return { shift: previous.shift }
}
