import type { ComponentType } from 'react'

/** View of an approval request with its decision, provided by the window. */
export type DecisionView = ComponentType<{ intentId: string }>
