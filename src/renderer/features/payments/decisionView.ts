import type { ComponentType } from 'react'

/** A request for approval, with its decision. The window knows how it is shown. */
export type DecisionView = ComponentType<{ intentId: string }>
