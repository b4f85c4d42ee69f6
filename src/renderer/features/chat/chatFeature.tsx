import { BookText, CircleDollarSign, FileUp, MessageSquare, MessageSquarePlus } from 'lucide-react'
import { lazy } from 'react'
import type { Feature } from '../../ui/feature.ts'
import { goTo } from '../../ui/route.ts'

const Screen = lazy(async () => ({ default: (await import('./ChatScreen.tsx')).ChatScreen }))

const section = 'Chat'

export const chatFeature: Feature = {
  id: 'chat',
  title: 'Chat',
  icon: MessageSquare,
  letter: 'c',
  keywords: ['models', 'conversations', 'gpt', 'claude', 'gemini', 'ask'],
  Screen,
  commands: [
    {
      id: 'chat.new',
      title: 'New chat',
      section,
      icon: MessageSquarePlus,
      shortcut: 'mod+shift+o',
      keywords: ['conversation', 'ask', 'model'],
      run: () => goTo('chat', 'new'),
    },
    {
      id: 'chat.prompts',
      title: 'Prompt library…',
      section,
      icon: BookText,
      keywords: ['templates', 'snippets'],
      run: () => goTo('chat', 'prompts'),
    },
    {
      id: 'chat.import',
      title: 'Import chats…',
      section,
      icon: FileUp,
      keywords: ['chatgpt', 'claude', 'librechat', 'open webui'],
      run: () => goTo('chat', 'import'),
    },
    {
      id: 'chat.limits',
      title: 'Spending limits of chats…',
      section,
      icon: CircleDollarSign,
      keywords: ['budget', 'cost', 'day'],
      run: () => goTo('chat', 'limits'),
    },
  ],
}
