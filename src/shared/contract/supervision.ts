import { z } from 'zod'

/** What a service prints, in one line of JSON, when it is ready. */
export const ServiceReady = z.object({
  event: z.literal('ready'),
  url: z.string(),
  owner_key_file: z.string(),
  /** Where the application asks it, in the place of its address. */
  socket: z.string().optional(),
})
export type ServiceReady = z.infer<typeof ServiceReady>

/** What the application writes to the stdin of a supervised service. */
export const ServiceOrder = z.discriminatedUnion('event', [
  /** How the person at its window is known. */
  z.object({ event: z.literal('person'), key: z.string() }),
  /** Where it forwards requests from. */
  z.object({ event: z.literal('fronts'), hosts: z.array(z.string()).readonly() }),
])
export type ServiceOrder = z.infer<typeof ServiceOrder>
