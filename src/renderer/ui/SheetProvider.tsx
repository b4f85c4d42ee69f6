import { type Dispatch, type ReactNode, type SetStateAction, useState } from 'react'
import { SheetDialog } from './SheetDialog.tsx'
import { type OpenSheet, SheetContext, type SheetEnd, type SheetRequest } from './sheetContext.ts'

type PendingSheet = { id: number; request: SheetRequest; settle: (end: SheetEnd) => void }

/** Shows one secure prompt at a time. */
export function SheetProvider({ children }: { children: ReactNode }) {
  const [openSheet, setOpenSheet] = useState<PendingSheet>()
  const [open] = useState(() => opener(setOpenSheet))
  const end = (how: SheetEnd) => {
    openSheet?.settle(how)
    setOpenSheet((present) => (present === openSheet ? undefined : present))
  }
  return (
    <SheetContext value={open}>
      {children}
      {openSheet && <SheetDialog key={openSheet.id} request={openSheet.request} onEnd={end} />}
    </SheetContext>
  )
}

function opener(setOpenSheet: Dispatch<SetStateAction<PendingSheet | undefined>>): OpenSheet {
  let id = 0
  return (request) =>
    new Promise<SheetEnd>((settle) => {
      id += 1
      const next = { id, request, settle }
      setOpenSheet((before) => {
        before?.settle('cancelled')
        return next
      })
    })
}
