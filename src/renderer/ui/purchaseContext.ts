import { createContext, useContext } from 'react'

/** Product of the service. */
export type PurchaseOrder =
  | {
      kind: 'registration'
      domain: string
      unicode: string /** US dollars a year; null: not known. */
      renewal: number | null
    }
  | { kind: 'renewal'; domain: string; unicode: string; expiresAt: string }
  | { kind: 'topup'; amountUsd: number }

/** Shows what it costs, over everything else; nothing is paid before the person says so. */
export type OpenPurchase = (order: PurchaseOrder) => void

export const PurchaseContext = createContext<OpenPurchase | undefined>(undefined)

export function usePurchase(): OpenPurchase {
  const open = useContext(PurchaseContext)
  if (!open) throw new Error('usePurchase needs a PurchaseProvider above it')
  return open
}
