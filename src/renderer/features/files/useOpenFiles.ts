import { useState } from 'react'
import { useUnsaved } from '../../ui/unsaved/useUnsaved.ts'
import type { Drafts } from './editor/drafts.ts'

export type OpenFiles = ReturnType<typeof useOpenFiles>

/** Files with a tab, and those of them that were changed since they were saved. */
export function useOpenFiles(kept: Drafts) {
  const [paths, setPaths] = useState<readonly string[]>(kept.paths)
  const [shown, setShown] = useState<string | undefined>(paths[0])
  const [unsaved, setUnsaved] = useState<ReadonlySet<string>>(new Set())
  const [closing, setClosing] = useState<string>()

  useUnsaved(unsaved.size > 0, ['terminals'], () => {
    for (const path of unsaved) kept.forget(path)
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
    kept.forget(path)
    if (shown === path) setShown(left.at(-1))
    setClosing(undefined)
  }
  return {
    paths,
    shown,
    show: setShown,
    open(path: string) {
      if (!paths.includes(path)) setPaths([...paths, path])
      setShown(path)
    },
    unsaved,
    mark,
    /** Asks first when something would be lost. */
    requestClose: (path: string) => (unsaved.has(path) ? setClosing(path) : close(path)),
    closing,
    close,
    keep: () => setClosing(undefined),
  }
}
