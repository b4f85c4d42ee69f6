import { useState } from 'react'
import type { SandboxId } from '#shared/ids.ts'
import { buildTreeRows, type SortBy } from './tree/treeRows.ts'
import { useFolders } from './useFolders.ts'

/** Maximum number of expanded folders, because all of them are polled. Expanding another one collapses the oldest. */
const maxOpen = 60
const home = '/root'

export type FileTreeState = ReturnType<typeof useFileTree>

export function useFileTree(sandboxId: SandboxId, active: boolean) {
  const [root, setRoot] = useState(home)
  const [expanded, setExpanded] = useState<readonly string[]>([])
  const [hidden, setHidden] = useState(false)
  const [sortBy, setSortBy] = useState<SortBy>('name')
  const [selected, setSelected] = useState<string>()
  const inRoot = (path: string) => root === '/' || path.startsWith(`${root}/`)
  const open = expanded.filter(inRoot)
  const { readings, reread } = useFolders(sandboxId, [root, ...open], active)
  const rows = buildTreeRows({ root, expanded: new Set(open), hidden, sortBy, reading: (path) => readings.get(path) })
  return {
    root,
    go(path: string) {
      setRoot(path)
      setSelected(undefined)
    },
    expand(path: string, isOpen: boolean) {
      const others = expanded.filter((it) => it !== path)
      setExpanded(isOpen ? [...others, path].slice(-maxOpen) : others)
    },
    hidden,
    setHidden,
    sortBy,
    setSortBy,
    selected,
    setSelected,
    rows,
    namesIn: (folder: string) => new Set(readings.get(folder)?.entries?.map(({ name }) => name)),
    reread,
  }
}
