import table from './scripts/systemCalls.json' with { type: 'json' }

export type SystemCallName = keyof typeof table.x64
export type SystemCallNumbers = Readonly<Record<SystemCallName, number>>

/** System call numbers of each tested architecture. */
export const systemCallTable: Readonly<Partial<Record<NodeJS.Architecture, SystemCallNumbers>>> = table

/** @returns undefined on an architecture that sandboxes were never tested on */
export const getSystemCallNumbers = (): SystemCallNumbers | undefined => systemCallTable[process.arch]
