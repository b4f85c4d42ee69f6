import {
  Bot,
  CircleUser,
  Cpu,
  KeyRound,
  ListChecks,
  LockKeyhole,
  type LucideIcon,
  Palette,
  Plug,
  ScrollText,
  Wrench,
} from 'lucide-react'
import { families } from '#shared/contract/families.ts'

export type SettingsSectionId =
  | 'account'
  | 'keys'
  | 'models'
  | 'coding-agents'
  | 'tools'
  | 'tool-servers'
  | 'lock'
  | 'policies'
  | 'activity'
  | 'appearance'

/** Sections in index order. Each has an address such as `#/settings/keys`. */
export const settingsSections = [
  { id: 'account', title: 'Account', icon: CircleUser, keywords: ['service', 'who', 'wallets', 'sign in', 'role'] },
  { id: 'keys', title: 'API keys', icon: KeyRound, keywords: ['token', 'create', 'revoke', 'curl'] },
  {
    id: 'models',
    title: 'Models',
    icon: Cpu,
    keywords: [
      'provider',
      ...Object.values(families).map(({ provider }) => provider),
      'ollama',
      'lm studio',
      'llama.cpp',
      'prices',
    ],
  },
  {
    id: 'coding-agents',
    title: 'Coding agents',
    icon: Bot,
    keywords: ['codex', 'claude code', 'openai sdk', 'anthropic sdk', 'curl', 'base url'],
  },
  {
    id: 'tools',
    title: 'Tool clients',
    icon: Wrench,
    keywords: ['mcp', 'claude code', 'codex', 'cursor', 'vs code', 'profile', 'budget', 'dry run'],
  },
  {
    id: 'tool-servers',
    title: 'Tool servers',
    icon: Plug,
    keywords: ['mcp', 'stdio', 'http', 'external', 'add', 'tools', 'connect'],
  },
  { id: 'lock', title: 'Wallet lock', icon: LockKeyhole, keywords: ['auto-lock', 'passphrase', 'keychain', 'unlock'] },
  { id: 'policies', title: 'Policies', icon: ListChecks, keywords: ['rules', 'allow', 'deny', 'grants', 'threshold'] },
  {
    id: 'activity',
    title: 'Activity',
    icon: ScrollText,
    keywords: ['log', 'retention', 'keep', 'recordings', 'terminals', 'delete'],
  },
  { id: 'appearance', title: 'Appearance', icon: Palette, keywords: ['theme', 'dark', 'light', 'terminal'] },
] as const satisfies readonly {
  id: SettingsSectionId
  title: string
  icon: LucideIcon
  keywords: readonly string[]
}[]
