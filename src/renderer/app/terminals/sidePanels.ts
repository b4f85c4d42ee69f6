import { FolderTree, Gauge, type LucideIcon } from 'lucide-react'
import { type ComponentType, lazy } from 'react'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { filesKeys, overviewKeys } from '../../ui/commands/terminalSafeKeys.ts'

/** A part of the panel at the right of the terminals, about the sandbox in view. */
export type SidePanel = {
  id: string
  title: string
  icon: LucideIcon
  /** Opens the panel with this part, and closes it when it is in view. */
  shortcut?: string
  /**
   * `lazy` component, loaded when first opened. It stays mounted, and continues its work, while its sandbox is among
   * the most recent; while not `visible` it reads and renders nothing.
   */
  Content: ComponentType<SidePanelProps>
}

/** A file or a folder to show; of a file perhaps a place in it, lines and columns beginning at 1. */
export type PathRequest = { path: string; isFolder?: boolean; at?: { line: number; column: number } | undefined }
export type FileRequest = PathRequest & { sandboxId: string }

export type SidePanelProps = {
  sandbox: Sandbox
  visible: boolean
  /** A file that the person asked for: a new one each time. */
  asked: FileRequest | undefined
  /** Brings another sandbox into view; a new one gets its first terminal. */
  show: (sandbox: Sandbox) => void
}

/** In the order of their tabs. */
export const sidePanels: readonly SidePanel[] = [
  {
    id: 'overview',
    title: 'Overview',
    icon: Gauge,
    shortcut: overviewKeys,
    Content: lazy(() =>
      import('./side/SandboxOverview.tsx').then(({ SandboxOverview }) => ({ default: SandboxOverview })),
    ),
  },
  {
    id: 'files',
    title: 'Files',
    icon: FolderTree,
    shortcut: filesKeys,
    Content: lazy(() =>
      import('../../features/files/SandboxFiles.tsx').then(({ SandboxFiles }) => ({ default: SandboxFiles })),
    ),
  },
]
