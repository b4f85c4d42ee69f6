import { type RefObject, useEffect, useEffectEvent, useRef, useState } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import { AppError } from '#shared/appError.ts'
import type { SandboxId } from '#shared/ids.ts'
import { getBasename, getDirname, joinPath } from '../paths.ts'
import { type CodeEditor, createCodeEditor, type TextPosition } from './codeEditor.ts'
import type { Drafts } from './drafts.ts'
import { openFile, saveText } from './fileAccess.ts'

/** Delay before edits are stored, in milliseconds. Later edits are lost if the page closes. */
const saveDelayMs = 300

export type TextFileOptions = {
  sandboxId: SandboxId
  path: string
  text: string
  version: string
  drafts: Drafts
  at: TextPosition | undefined
  onUnsaved: (unsaved: boolean) => void
  onSaved: (path: string) => void
}

export type TextFile = {
  /** Element that contains the editor. */
  place: RefObject<HTMLDivElement | null>
  unsaved: boolean
  busy: boolean
  /** Whether the file has changed on disk since it was read. */
  conflict: boolean
  save(): void
  overwrite(): void
  reload(): void
  /** Saves under another name without overwriting an existing file. @throws {AppError} `file/exists` and others */
  saveAs(name: string): Promise<void>
}

/** Text file in an editor, with a stored draft until it is saved. */
export function useTextFile(options: TextFileOptions): TextFile {
  const { sandboxId, path, text, version, drafts, at, onUnsaved, onSaved } = options
  const agent = useAgent()
  const place = useRef<HTMLDivElement>(null)
  const editor = useRef<CodeEditor>(undefined)
  // Unsaved text of an earlier page load, used if the file has not been saved elsewhere since.
  const [draft] = useState(() => drafts.read(path))
  const baseVersion = useRef(draft?.version ?? version)
  const [unsaved, setUnsaved] = useState(false)
  const [busy, setBusy] = useState(false)
  const [conflict, setConflict] = useState(draft !== undefined && draft.version !== version)

  const keeping = useRef<ReturnType<typeof setTimeout>>(undefined)
  const keep = () => {
    const written = editor.current?.text()
    if (written !== undefined) drafts.keep(path, { text: written, version: baseVersion.current })
  }
  const changed = useEffectEvent((now: boolean) => {
    setUnsaved(now)
    onUnsaved(now)
    clearTimeout(keeping.current)
    if (now) keeping.current = setTimeout(keep, saveDelayMs)
    else drafts.forget(path)
  })
  const write = async (target: { to: string; ifVersion?: string | undefined; isNew?: boolean }) => {
    const written = editor.current?.text()
    if (written === undefined) return
    const { to, ifVersion, isNew = false } = target
    setBusy(true)
    try {
      const now = await saveText(agent, { id: sandboxId, path: to, text: written, ifVersion, isNew })
      if (to === path) baseVersion.current = now
      setConflict(false)
      changed(editor.current?.text() !== written)
      onSaved(to)
    } finally {
      setBusy(false)
    }
  }
  const save = useEffectEvent(async (ifVersion: string | undefined) => {
    if (busy) return
    try {
      await write({ to: path, ifVersion })
    } catch (error) {
      if (error instanceof AppError && error.code === 'file/changed') setConflict(true)
      else notify.failed(error, { title: `Could not save ${getBasename(path)}` })
    }
  })
  const saveAs = (name: string) => write({ to: joinPath(getDirname(path), name), isNew: true })
  const reload = async () => {
    try {
      const now = await openFile(agent, sandboxId, path)
      if (now.kind !== 'text') throw new AppError('file/changed', `${path} is no longer a text file.`)
      editor.current?.replace(now.text)
      baseVersion.current = now.version
      setConflict(false)
      changed(false)
    } catch (error) {
      notify.failed(error, { title: `Could not reload ${getBasename(path)}` })
    }
  }

  useEffect(() => {
    if (!place.current) return
    const opened = createCodeEditor({
      parent: place.current,
      name: getBasename(path),
      text: draft?.text ?? text,
      onChange: () => changed(true),
      onSave: () => void save(baseVersion.current),
    })
    editor.current = opened
    opened.focus()
    if (draft) changed(true)
    return () => {
      clearTimeout(keeping.current)
      opened.close()
    }
  }, [path, text, draft])

  useEffect(() => at && editor.current?.goTo(at), [at])

  return {
    place,
    unsaved,
    busy,
    conflict,
    save: () => void save(baseVersion.current),
    overwrite: () => void save(undefined),
    reload: () => void reload(),
    saveAs,
  }
}
