import { z } from 'zod'

/** ISO 8601 in UTC with milliseconds and `Z`, as on every wire of Steward. */
export const IsoTime = z.iso.datetime({ precision: 3 })
export type IsoTime = z.infer<typeof IsoTime>

/** @param ms Unix time in milliseconds */
export function toIsoTime(ms: number): IsoTime {
  return new Date(ms).toISOString()
}
