import { useState } from 'react'
import { useUnsaved } from '../../ui/unsaved/useUnsaved.ts'
import type { TextPosition } from './editor/codeEditor.ts'
import type { Drafts } from './editor/drafts.ts'

export type OpenFiles = ReturnType<typeof useOpenFiles>

/** Returns the files with a tab, and those with unsaved changes. */
export function useOpenFiles(drafts: Drafts) {
  const [paths, setPaths] = useState<readonly string[]>(drafts.paths)
  const [selected, setSelected] = useState<string | undefined>(paths[0])
  const [unsaved, setUnsaved] = useState<ReadonlySet<string>>(new Set())
  const [closing, setClosing] = useState<string>()
  const [requested, setRequested] = useState<{ path: string; at: TextPosition }>()

  useUnsaved(unsaved.size > 0, ['terminals'], () => {
    for (const path of unsaved) drafts.forget(path)
  })

  const mark = (path: string, isUnsaved: boolean) => {
    if (unsaved.has(path) === isUnsaved) return
    const next = new Set(unsaved)
    if (isUnsaved) next.add(path)
    else next.delete(path)
    setUnsaved(next)
  }
  const close = (path: string) => {
    const left = paths.filter((it) => it !== path)
    setPaths(left)
    mark(path, false)
    drafts.forget(path)
    if (selected === path) setSelected(left.at(-1))
    setClosing(undefined)
  }
  return {
    paths,
    shown: selected,
    show: setSelected,
    /** `at` is the position to scroll to. */
    open(path: string, at?: TextPosition) {
      if (!paths.includes(path)) setPaths([...paths, path])
      setSelected(path)
      setRequested(at && { path, at })
    },
    /** A new object for each request. */
    placeIn: (path: string) => (requested?.path === path ? requested.at : undefined),
    unsaved,
    mark,
    /** Asks for confirmation if unsaved changes would be lost. */
    requestClose: (path: string) => (unsaved.has(path) ? setClosing(path) : close(path)),
    closing,
    close,
    keep: () => setClosing(undefined),
  }
}
