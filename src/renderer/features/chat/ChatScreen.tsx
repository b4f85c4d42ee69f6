import { Download, FileJson, MessageSquarePlus, MoreHorizontal, Pencil, SlidersHorizontal, Trash2 } from 'lucide-react'
import { useDeferredValue, useEffect, useRef, useState } from 'react'
import { type Conversation, ConversationId, Title } from '#shared/contract/chats.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorNotice } from '../../ui/ErrorNotice.tsx'
import { IconButton } from '../../ui/IconButton.tsx'
import { Menu } from '../../ui/Menu.tsx'
import { NameDialog } from '../../ui/NameDialog.tsx'
import { PageColumn, PageFrame } from '../../ui/PageFrame.tsx'
import { buildAddress, goTo, useRoute } from '../../ui/route.ts'
import { SkeletonRows } from '../../ui/Skeleton.tsx'
import { notify } from '../../ui/toast.tsx'
import './chat.css'
import { HighlighterProvider } from './code/HighlighterProvider.tsx'
import { readDraft, storeDraft } from './composer/drafts.ts'
import { type ConversationHandle, ConversationView } from './conversation/ConversationView.tsx'
import { NewChat } from './conversation/NewChat.tsx'
import { MessageStreamsProvider, useLiveCost } from './data/MessageStreamsProvider.tsx'
import { useBranchAhead } from './data/useBranch.ts'
import { useChatActions } from './data/useChatActions.ts'
import { useConversation } from './data/useConversations.ts'
import { ConversationList } from './list/ConversationList.tsx'
import { formatCost } from './money/amounts.ts'
import { PromptLibrary } from './prompts/PromptLibrary.tsx'
import { ConversationSettings } from './settings/ConversationSettings.tsx'
import { LimitsDialog } from './settings/LimitsDialog.tsx'
import { startExport } from './transfer/exportConversation.ts'
import { ImportDialog } from './transfer/ImportDialog.tsx'
import { useChatCommands } from './useChatCommands.ts'

/** List of chats with the selected one beside it. `#/chat/CHAT/MESSAGE` links to a message. */
export function ChatScreen() {
  const [, ...place] = useRoute()
  // Deferred, so that rendering a chat does not block the window.
  const part = useDeferredValue(place[0])
  const sought = useDeferredValue(place[1])
  const id = ConversationId.safeParse(part).data
  return (
    <HighlighterProvider>
      <MessageStreamsProvider>
        <Chats key="chats" id={id} part={part} sought={sought} />
      </MessageStreamsProvider>
    </HighlighterProvider>
  )
}

type ChatsProps = { id: ConversationId | undefined; part: string | undefined; sought: string | undefined }

function Chats({ id, part, sought }: ChatsProps) {
  useBranchAhead(id)
  const { data: read, error, isPending, refetch } = useConversation(id)
  const conversation = id === undefined ? undefined : read
  const actions = useChatActions()
  const [settings, setSettings] = useState<'all' | 'limits'>()
  const [renaming, setRenaming] = useState(false)
  const searchField = useRef<HTMLInputElement>(null)
  const view = useRef<ConversationHandle>(null)

  const remove = (item: Conversation) => {
    goTo('chat', 'new')
    void actions.remove(item.id, item.title).catch(notify.failed)
  }
  // Opening a chat focuses the composer. Following a link to a message does not.
  const isRead = conversation !== undefined
  useEffect(() => {
    if (sought === undefined && (isRead || id === undefined)) view.current?.focus()
  }, [id, sought, isRead])
  useChatCommands({ conversation, searchField, view, setRenaming, openSettings: () => setSettings('all'), remove })

  return (
    <PageFrame
      title={conversation?.title ?? 'Chat'}
      note={conversation && conversation.message_count > 0 && <Cost conversation={conversation} />}
      actions={
        <>
          {id === undefined && <NewChatSettings onCreate={() => setSettings('all')} />}
          {conversation && (
            <ConversationActions
              conversation={conversation}
              isSettingsOpen={settings !== undefined}
              onSettings={() => setSettings(settings ? undefined : 'all')}
              onRename={() => setRenaming(true)}
              onDelete={remove}
            />
          )}
          <IconButton
            label="New chat"
            icon={MessageSquarePlus}
            shortcut="mod+shift+o"
            onClick={() => goTo('chat', 'new')}
          />
        </>
      }
      list={{ label: 'Chats', content: <ConversationList present={id} searchField={searchField} /> }}
      end={
        conversation && {
          id: 'chat-settings',
          label: 'Chat settings',
          width: { initial: 340, min: 300, max: 480 },
          open: settings !== undefined,
          onOpenChange: (open) => setSettings(open ? 'all' : undefined),
          content: settings ? (
            <ConversationSettings
              key={conversation.id}
              conversation={conversation}
              atLimits={settings === 'limits'}
              onChange={(changes) => actions.change(conversation.id, changes)}
              onClose={() => setSettings(undefined)}
            />
          ) : null,
        }
      }
    >
      {conversation ? (
        <ConversationView
          key={conversation.id}
          ref={view}
          conversation={conversation}
          sought={sought}
          onLimits={() => setSettings('limits')}
          onSettings={() => setSettings('all')}
        />
      ) : id === undefined ? (
        <NewChat key={part} ref={view} />
      ) : (
        <MissingChat isPending={isPending} error={error} onRetry={() => void refetch()} />
      )}
      {renaming && conversation && (
        <RenameDialog
          title={conversation.title}
          onRename={(title) => actions.change(conversation.id, { title })}
          onClose={() => setRenaming(false)}
        />
      )}
      {part === 'import' && <ImportDialog onClose={() => goTo('chat', 'new')} />}
      {part === 'prompts' && <PromptLibrary onClose={() => goTo('chat', 'new')} />}
      {part === 'limits' && <LimitsDialog onClose={() => goTo('chat', 'new')} />}
    </PageFrame>
  )
}

/** Opens the settings of a new chat, which creates the chat with the current draft. */
function NewChatSettings({ onCreate }: { onCreate: () => void }) {
  const actions = useChatActions()
  const create = async () => {
    try {
      const { id } = await actions.create({})
      storeDraft(id, readDraft('new'))
      onCreate()
      goTo('chat', id)
    } catch (error) {
      notify.failed(error)
    }
  }
  return <IconButton label="Chat settings" icon={SlidersHorizontal} onClick={() => void create()} />
}

type MissingChatProps = { isPending: boolean; error: unknown; onRetry: () => void }

/** Shown while a chat is loading, or if it does not exist or cannot be read. */
function MissingChat({ isPending, error, onRetry }: MissingChatProps) {
  if (isPending) {
    return (
      <PageColumn className="py-5">
        <SkeletonRows label="Loading the chat…" count={5} rowClassName="h-12" />
      </PageColumn>
    )
  }
  if (isNotFound(error)) {
    return (
      <EmptyState
        icon={MessageSquarePlus}
        title="Chat not found"
        description={
          <a href={buildAddress('chat', 'new')} className="font-medium text-accent hover:underline">
            Start a new chat
          </a>
        }
      />
    )
  }
  return (
    <PageColumn className="py-5">
      <ErrorNotice error={error} onRetry={onRetry} />
    </PageColumn>
  )
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'chat/not-found'
}

function Cost({ conversation: { id, spend, message_count: count, title } }: { conversation: Conversation }) {
  const live = useLiveCost(id)
  return (
    <span className="tabular-nums" aria-label={`Cost of ${title}`} role="note">
      {(spend.estimated || live > 0) && '~'}
      {formatCost(spend.cost_micro_usd + live)} · {count.toLocaleString('en')} messages
    </span>
  )
}

type RenameDialogProps = { title: string; onRename: (title: string) => Promise<unknown>; onClose: () => void }

function RenameDialog({ title, onRename, onClose }: RenameDialogProps) {
  return (
    <NameDialog
      title="Rename chat"
      label="Title"
      schema={Title}
      initial={title}
      confirmLabel="Rename"
      onConfirm={onRename}
      onClose={onClose}
    />
  )
}

type ConversationActionsProps = ConversationMenuProps & { isSettingsOpen: boolean; onSettings: () => void }

function ConversationActions({ isSettingsOpen, onSettings, ...menu }: ConversationActionsProps) {
  return (
    <>
      <IconButton label="Chat settings" icon={SlidersHorizontal} aria-pressed={isSettingsOpen} onClick={onSettings} />
      <ConversationMenu {...menu} />
    </>
  )
}

type ConversationMenuProps = {
  conversation: Conversation
  onRename: () => void
  onDelete: (conversation: Conversation) => void
}

function ConversationMenu({ conversation, onRename, onDelete }: ConversationMenuProps) {
  return (
    <Menu
      align="end"
      items={[
        { label: 'Rename…', icon: Pencil, onSelect: onRename },
        {
          label: 'Export as Markdown',
          icon: Download,
          onSelect: () => startExport(conversation.id, 'markdown'),
        },
        { label: 'Export as JSON', icon: FileJson, onSelect: () => startExport(conversation.id, 'json') },
        'separator',
        { label: 'Delete', icon: Trash2, tone: 'danger', onSelect: () => onDelete(conversation) },
      ]}
    >
      <IconButton label="More for this chat" icon={MoreHorizontal} />
    </Menu>
  )
}
