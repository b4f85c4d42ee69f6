import { FolderTree, Gauge, type LucideIcon } from 'lucide-react'
import { type ComponentType, lazy } from 'react'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { filesKeys, overviewKeys } from '../../ui/commands/terminalSafeKeys.ts'

/** Tab of the side panel of the terminals, for the sandbox in view. */
export type SidePanel = {
  id: string
  title: string
  icon: LucideIcon
  /** Shortcut that opens the panel with this tab, or closes the panel if the tab is visible. */
  shortcut?: string
  /**
   * `lazy` component, loaded when first opened. It stays mounted and continues its work while its sandbox is among the
   * most recent ones. While not `visible` it reads and renders nothing.
   */
  Content: ComponentType<SidePanelProps>
}

/** File or folder to show. A file may include a position; lines and columns are 1-based. */
export type PathRequest = { path: string; isFolder?: boolean; at?: { line: number; column: number } | undefined }
export type FileRequest = PathRequest & { sandboxId: string }

export type SidePanelProps = {
  sandbox: Sandbox
  visible: boolean
  /** File requested by the user. Each request is a new object. */
  request: FileRequest | undefined
  /** Shows another sandbox. A new sandbox gets its first terminal. */
  show: (sandbox: Sandbox) => void
}

/** Sorted in tab order. */
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
