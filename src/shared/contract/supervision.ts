import { z } from 'zod'
import { FamilyId } from './families.ts'
import { ModelPrice, ModelServerName, ModelServerUrl, maxServedModels, servedModelName } from './providers.ts'

/** JSON line that a service prints when it is ready. */
export const ServiceReady = z.object({
  event: z.literal('ready'),
  url: z.string(),
  owner_key_file: z.string(),
  /** Unix socket that the application uses instead of the TCP address. */
  socket: z.string().optional(),
})
export type ServiceReady = z.infer<typeof ServiceReady>

/** Messages from the application to the stdin of a supervised service. Stored only in memory. */
export const ServiceCommand = z.discriminatedUnion('event', [
  /** Key that authenticates the user in the window. */
  z.object({ event: z.literal('person'), key: z.string() }),
  /** Hosts from which the application forwards requests. */
  z.object({ event: z.literal('fronts'), hosts: z.array(z.string()).readonly() }),
  /** Null if the user has not set a key; the configured key applies then. */
  z.object({ event: z.literal('provider-key'), family: FamilyId, key: z.string().min(1).nullable() }),
  /** All model servers of the user, in addition to those of the configuration. */
  z.object({
    event: z.literal('local-models'),
    servers: z
      .array(
        z.object({
          name: ModelServerName,
          base_url: ModelServerUrl,
          api_key: z.string().min(1).nullable(),
          models: z.array(z.string().regex(servedModelName)).max(maxServedModels).readonly(),
          free: z.boolean(),
          /** Prices by model. A model without a price is free, or its price is unknown. */
          prices: z.record(z.string(), ModelPrice),
        }),
      )
      .readonly(),
  }),
  /** Whether the user has stopped all activity, including models for all keys. */
  z.object({ event: z.literal('models-stopped'), stopped: z.boolean() }),
])
export type ServiceCommand = z.infer<typeof ServiceCommand>
/** Message that changes the models of a service. */
export type ModelCommand = Extract<ServiceCommand, { event: 'provider-key' | 'local-models' | 'models-stopped' }>
