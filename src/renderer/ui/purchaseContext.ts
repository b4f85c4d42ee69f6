import { createContext, useContext } from 'react'

export type PurchaseOrder =
  | {
      kind: 'registration'
      domain: string
      unicode: string
      /** US dollars per year; null if unknown. */
      renewal: number | null
    }
  | { kind: 'renewal'; domain: string; unicode: string; expiresAt: string }
  | { kind: 'topup'; amountUsd: number }

/** Opens a dialog with the price of an order. Nothing is paid before the user approves. */
export type OpenPurchase = (order: PurchaseOrder) => void

export const PurchaseContext = createContext<OpenPurchase | undefined>(undefined)

export function usePurchase(): OpenPurchase {
  const open = useContext(PurchaseContext)
  if (!open) throw new Error('usePurchase must be used within a PurchaseProvider')
  return open
}
