import { type DragEvent, useState } from 'react'
import { notify } from '#renderer/ui/toast.tsx'
import type { WalletAccount } from '#shared/contract/wallet.ts'
import { maxDraftBytes, type ReadDraft, readDraft } from './draftFile.ts'
import type { RegisterForm } from './registerForm.ts'

/** Fills in the form from a selected or dropped JSON file. */
export function useDraftFile(accounts: readonly WalletAccount[], onFill: (values: Partial<RegisterForm>) => void) {
  const [problems, setProblems] = useState<readonly string[]>([])
  const [isOver, setIsOver] = useState(false)
  // Counts loaded files, so that each resets the prompt field.
  const [revision, setRevision] = useState(0)
  const fillFrom = async (file: File) => {
    const read: ReadDraft =
      file.size > maxDraftBytes
        ? { problems: [`The file is larger than ${maxDraftBytes / 1024} KiB.`] }
        : await readDraft(await file.text(), accounts)
    if ('problems' in read) return setProblems(read.problems.map((it) => `${file.name}: ${it}`))
    setProblems([])
    setRevision(revision + 1)
    onFill(read.values)
    notify.done(`Filled in from ${file.name}`)
  }
  return {
    problems,
    revision,
    load: (file: File) => void fillFrom(file),
    /** Whether files are dragged over the form. */
    isOver,
    dropHandlers: {
      onDragOver(event: DragEvent) {
        if (!event.dataTransfer.types.includes('Files')) return
        event.preventDefault()
        setIsOver(true)
      },
      onDragLeave: () => setIsOver(false),
      onDrop(event: DragEvent) {
        event.preventDefault()
        setIsOver(false)
        const [file] = event.dataTransfer.files
        if (file) void fillFrom(file)
      },
    },
  }
}
