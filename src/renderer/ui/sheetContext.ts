import { createContext, useContext } from 'react'
import type { Input } from '#shared/contract/route.ts'
import type { openWalletSheet } from '#shared/contract/wallet.ts'

export type SheetRequest = Omit<Input<typeof openWalletSheet>, 'theme'>
export type SheetEnd = 'done' | 'cancelled'
/** Shows the sheet over everything else; resolves when the person is done with it, or has left it. */
export type OpenSheet = (request: SheetRequest) => Promise<SheetEnd>

export const SheetContext = createContext<OpenSheet | undefined>(undefined)

/** `const openSheet = useSheet()`, then `await openSheet({ purpose: 'unlock' })`. */
export function useSheet(): OpenSheet {
  const open = useContext(SheetContext)
  if (!open) throw new Error('useSheet needs a SheetProvider above it')
  return open
}
