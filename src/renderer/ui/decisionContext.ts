import { type ComponentType, createContext, useContext } from 'react'

/** A request for approval with its decision, in the middle of something else. */
export type Decision = ComponentType<{ intentId: string }>

export const DecisionContext = createContext<Decision | undefined>(undefined)

export function useDecisionView(): Decision {
  const view = useContext(DecisionContext)
  if (!view) throw new Error('useDecisionView needs a DecisionContext above it')
  return view
}
