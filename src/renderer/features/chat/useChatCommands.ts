import { Download, OctagonX, Pencil, Search, SlidersHorizontal, Trash2 } from 'lucide-react'
import type { RefObject } from 'react'
import type { Conversation } from '#shared/contract/chats.ts'
import { useCommands } from '../../ui/commands/commandRegistry.tsx'
import type { ConversationHandle } from './conversation/ConversationView.tsx'
import { startExport } from './transfer/exportConversation.ts'

type ChatCommandsOptions = {
  conversation: Conversation | undefined
  searchField: RefObject<HTMLInputElement | null>
  view: RefObject<ConversationHandle | null>
  setRenaming: (open: boolean) => void
  openSettings: () => void
  remove: (conversation: Conversation) => void
}

export function useChatCommands(options: ChatCommandsOptions): void {
  const { conversation, searchField, view, setRenaming, openSettings, remove } = options
  const section = 'Chat'
  const enabled = conversation !== undefined
  useCommands([
    {
      id: 'chat.search',
      title: 'Search chats',
      section,
      icon: Search,
      shortcut: '/',
      run: () => searchField.current?.focus(),
    },
    {
      id: 'chat.write',
      title: 'Write a message',
      section,
      icon: Pencil,
      shortcut: 'm',
      run: () => view.current?.focus(),
    },
    {
      id: 'chat.stop',
      title: 'Stop generating',
      section,
      icon: OctagonX,
      enabled: (conversation?.answering ?? 0) > 0,
      run: () => view.current?.stop(),
    },
    {
      id: 'chat.rename',
      title: 'Rename chat…',
      section,
      icon: Pencil,
      shortcut: 'f2',
      enabled,
      run: () => setRenaming(true),
    },
    {
      id: 'chat.settings',
      title: 'Chat settings',
      section,
      icon: SlidersHorizontal,
      keywords: ['system prompt', 'temperature', 'limits', 'budget', 'parameters'],
      enabled,
      run: openSettings,
    },
    {
      id: 'chat.export',
      title: 'Export chat as Markdown',
      section,
      icon: Download,
      enabled,
      run: () => conversation && startExport(conversation.id, 'markdown'),
    },
    {
      id: 'chat.delete',
      title: 'Delete chat',
      section,
      icon: Trash2,
      enabled,
      run: () => conversation && remove(conversation),
    },
  ])
}
