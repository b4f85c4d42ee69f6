import { z } from 'zod'

/** ISO 8601 in UTC with milliseconds and `Z`, the time format of all APIs. */
export const IsoTime = z.iso.datetime({ precision: 3 })
export type IsoTime = z.infer<typeof IsoTime>

/** @param ms Unix time in milliseconds */
export function toIsoTime(ms: number): IsoTime {
  return new Date(ms).toISOString()
}
