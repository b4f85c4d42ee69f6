import { z } from 'zod'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import type { ClockState, ClockStore } from '#platform/time/clock.ts'
import type { Database } from './sqlite/openDatabase.ts'

const State = z.object({
  bootId: z.string().nullable(),
  wallMs: z.number(),
  steadyMs: z.number(),
  runningMs: z.number(),
  uptimeMs: z.number(),
  setAtRunningMs: z.number().nullable(),
  totalMs: z.number(),
  looks: z.array(z.object({ totalMs: z.number(), wallMs: z.number() })).max(1_000),
})

/** @returns undefined for an unreadable state */
export function parseClockState(text: string): ClockState | undefined {
  return State.safeParse(parseJsonOrUndefined(text)).data
}

/** Stores the state of a clock in a database. An unreadable state is ignored, so that deletions wait again. */
export function createClockStore(database: Database): ClockStore {
  const read = database.prepare<[], { state: string }>('SELECT state FROM clock WHERE only = 1')
  const write = database.prepare<[string]>('INSERT OR REPLACE INTO clock (only, state) VALUES (1, ?)')
  return {
    read: () => parseClockState(read.get()?.state ?? ''),
    write: (state) => void write.run(JSON.stringify(state)),
  }
}
