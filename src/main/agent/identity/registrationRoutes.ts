import {
  listRegistrations,
  previewRegistration,
  retryRegistration,
  startRegistration,
} from '#shared/contract/automatons.ts'
import type { IdempotentSubmissions } from '../approvals/idempotentSubmissions.ts'
import { createLocalEndpoint, type LocalEndpoint } from '../base/localEndpoint.ts'
import type { Registrations } from './registrations.ts'

export function createRegistrationRoutes(
  registrations: Registrations,
  repeats: IdempotentSubmissions,
): LocalEndpoint[] {
  return [
    createLocalEndpoint(previewRegistration, ({ body }) => registrations.preview(body)),
    createLocalEndpoint(startRegistration, async ({ body: { reason, ...draft } }, call) => {
      const { requester } = call
      const intentId = await repeats.once(
        call,
        async (onStored) => (await registrations.start(draft, { requester, reason, onStored })).intent_id,
      )
      return registrations.ofIntent(intentId)
    }),
    createLocalEndpoint(listRegistrations, () => ({ registrations: registrations.list() })),
    createLocalEndpoint(retryRegistration, ({ params }) => registrations.send(params.registrationId)),
  ]
}
