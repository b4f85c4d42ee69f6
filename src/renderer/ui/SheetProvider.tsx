import { type Dispatch, type ReactNode, type SetStateAction, useState } from 'react'
import { SheetDialog } from './SheetDialog.tsx'
import { type OpenSheet, SheetContext, type SheetEnd, type SheetRequest } from './sheetContext.ts'

type Shown = { id: number; request: SheetRequest; settle: (end: SheetEnd) => void }

/** Shows one sheet of the wallet at a time, whoever asks for it. */
export function SheetProvider({ children }: { children: ReactNode }) {
  const [shown, setShown] = useState<Shown>()
  const [open] = useState(() => opener(setShown))
  const end = (how: SheetEnd) => {
    shown?.settle(how)
    setShown((present) => (present === shown ? undefined : present))
  }
  return (
    <SheetContext value={open}>
      {children}
      {shown && <SheetDialog key={shown.id} request={shown.request} onEnd={end} />}
    </SheetContext>
  )
}

function opener(setShown: Dispatch<SetStateAction<Shown | undefined>>): OpenSheet {
  let id = 0
  return (request) =>
    new Promise<SheetEnd>((settle) => {
      id += 1
      const next = { id, request, settle }
      setShown((before) => {
        before?.settle('cancelled')
        return next
      })
    })
}
