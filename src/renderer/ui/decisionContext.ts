import { type ComponentType, createContext, useContext } from 'react'

/** Approval request with its decision, embedded in another screen. */
export type Decision = ComponentType<{ intentId: string }>

export const DecisionContext = createContext<Decision | undefined>(undefined)

export function useDecisionView(): Decision {
  const view = useContext(DecisionContext)
  if (!view) throw new Error('useDecisionView must be used within a DecisionContext')
  return view
}
