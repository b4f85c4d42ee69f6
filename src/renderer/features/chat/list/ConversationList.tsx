import { Download, FileJson, FolderInput, Pencil, Pin, PinOff, Search, Trash2 } from 'lucide-react'
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import { Virtualizer, type VirtualizerHandle } from 'virtua'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { inputClassName } from '#renderer/ui/Field.tsx'
import type { MenuItem } from '#renderer/ui/Menu.tsx'
import { moveAmongRows } from '#renderer/ui/moveAmongRows.ts'
import { NameDialog } from '#renderer/ui/NameDialog.tsx'
import { goTo } from '#renderer/ui/route.ts'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import { useDebounced } from '#renderer/ui/useDebounced.ts'
import { type ConversationSummary, type FolderId, Title } from '#shared/contract/chats.ts'
import { useChatActions } from '../data/useChatActions.ts'
import { useConversations, useFolders } from '../data/useConversations.ts'
import { startExport } from '../transfer/exportConversation.ts'
import { ConversationRow } from './ConversationRow.tsx'
import { FolderMenu } from './FolderMenu.tsx'
import { MoveDialog } from './MoveDialog.tsx'
import { SearchResults } from './SearchResults.tsx'

type ConversationListProps = { present: string | undefined; searchField: RefObject<HTMLInputElement | null> }

const searchPauseMs = 150

/** List of chats with search, folders and paging. Arrow keys move between rows. */
export function ConversationList({ present, searchField }: ConversationListProps) {
  const [folder, setFolder] = useState<FolderId>()
  const [written, setWritten] = useState('')
  const words = useDebounced(written.trim(), written.trim() === '' ? 0 : searchPauseMs)
  const { data: folders = [] } = useFolders()
  return (
    <section aria-label="Chats" className="flex size-full min-h-0 flex-col bg-panel">
      <div className="flex shrink-0 flex-col items-start gap-1 px-2 pt-2 pb-1">
        <div className="relative w-full">
          <Search aria-hidden className="pointer-events-none absolute top-2 left-2.5 size-4 text-faint" />
          <input
            ref={searchField}
            type="search"
            aria-label="Search chats"
            placeholder="Search chats"
            maxLength={200}
            value={written}
            onChange={(event) => setWritten(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Escape') setWritten('')
            }}
            className={`${inputClassName} pl-8`}
          />
        </div>
        <FolderMenu
          folders={folders}
          present={folders.some(({ id }) => id === folder) ? folder : undefined}
          onChoose={setFolder}
        />
      </div>
      {words === '' ? (
        <Rows folder={folder} folders={folders} present={present} />
      ) : (
        // biome-ignore lint/a11y/noStaticElementInteractions: handles arrow keys of the links inside
        <div onKeyDown={moveAmongRows} className="min-h-0 flex-1 overflow-y-auto px-2 pb-2">
          <SearchResults words={words} />
        </div>
      )}
    </section>
  )
}

type RowsProps = {
  folder: FolderId | undefined
  folders: NonNullable<ReturnType<typeof useFolders>['data']>
  present: string | undefined
}

function Rows({ folder, folders, present }: RowsProps) {
  const { conversations, error, isPending, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } =
    useConversations(folder)
  const actions = useChatActions()
  const place = useRef<HTMLDivElement>(null)
  const list = useRef<VirtualizerHandle>(null)
  const [dialog, setDialog] = useState<{ what: 'rename' | 'move'; of: ConversationSummary }>()
  const attempt = (work: Promise<unknown>) => void work.catch(notify.failed)
  const remove = (item: ConversationSummary) => {
    if (item.id === present) goTo('chat', 'new')
    attempt(actions.remove(item.id, item.title))
  }
  const buildMenuItems = (item: ConversationSummary): MenuItem[] => [
    { label: 'Rename…', icon: Pencil, shortcut: 'f2', onSelect: () => setDialog({ what: 'rename', of: item }) },
    {
      label: item.pinned ? 'Unpin' : 'Pin',
      icon: item.pinned ? PinOff : Pin,
      onSelect: () => attempt(actions.change(item.id, { pinned: !item.pinned })),
    },
    { label: 'Move to folder…', icon: FolderInput, onSelect: () => setDialog({ what: 'move', of: item }) },
    'separator',
    { label: 'Export as Markdown', icon: Download, onSelect: () => startExport(item.id, 'markdown') },
    { label: 'Export as JSON', icon: FileJson, onSelect: () => startExport(item.id, 'json') },
    'separator',
    { label: 'Delete', icon: Trash2, shortcut: 'delete', tone: 'danger', onSelect: () => remove(item) },
  ]
  const onKey = (key: string, it: ConversationSummary): boolean => {
    if (key === 'F2') setDialog({ what: 'rename', of: it })
    else if (key === 'Delete') remove(it)
    else return false
    return true
  }
  const more = useCallback(() => {
    const element = place.current
    if (!element || !hasNextPage || isFetchingNextPage) return
    if (element.scrollHeight - element.scrollTop - element.clientHeight < 600) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])
  useEffect(more, [more])

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: handles arrow keys of the links inside
    <div ref={place} onScroll={more} onKeyDown={moveAmongRows} className="min-h-0 flex-1 overflow-y-auto px-2 pb-2">
      {isPending && <SkeletonRows label="Loading chats…" count={5} rowClassName="h-11" />}
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {conversations?.length === 0 && (
        <p className="px-2 py-1 text-muted">{folder === undefined ? 'No chats yet.' : 'No chats in this folder.'}</p>
      )}
      {conversations && conversations.length > 0 && (
        <nav aria-label="Chats">
          <Virtualizer ref={list} scrollRef={place} bufferSize={400}>
            {conversations.map((conversation) => (
              <ConversationRow
                key={conversation.id}
                conversation={conversation}
                isPresent={conversation.id === present}
                itemsOf={buildMenuItems}
                onKey={onKey}
              />
            ))}
          </Virtualizer>
        </nav>
      )}
      {dialog?.what === 'rename' && (
        <NameDialog
          title="Rename chat"
          label="Title"
          schema={Title}
          initial={dialog.of.title}
          confirmLabel="Rename"
          onConfirm={(title) => actions.change(dialog.of.id, { title })}
          onClose={() => setDialog(undefined)}
        />
      )}
      {dialog?.what === 'move' && (
        <MoveDialog
          conversation={dialog.of}
          folders={folders}
          onMove={(folderId) => actions.change(dialog.of.id, { folder_id: folderId })}
          onClose={() => setDialog(undefined)}
        />
      )}
    </div>
  )
}
