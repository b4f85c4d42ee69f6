/** Actors of activity entries that are neither programs nor services. */
export const person = { kind: 'person', name: 'You' } as const
export const steward = { kind: 'system', name: 'Steward' } as const
