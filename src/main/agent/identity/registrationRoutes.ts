import {
  listRegistrations,
  previewRegistration,
  retryRegistration,
  startRegistration,
} from '#shared/contract/automatons.ts'
import type { RepeatedAsks } from '../approvals/rememberSubmissions.ts'
import { type LocalEndpoint, localEndpoint } from '../base/localEndpoint.ts'
import type { Registrations } from './registrations.ts'

export function createRegistrationRoutes(registrations: Registrations, repeats: RepeatedAsks): LocalEndpoint[] {
  return [
    localEndpoint(previewRegistration, ({ body }) => registrations.preview(body)),
    localEndpoint(startRegistration, async ({ body: { reason, ...draft } }, call) => {
      const { asker } = call
      const intentId = await repeats.once(
        call,
        async (alongside) => (await registrations.start(draft, { asker, reason, alongside })).intent_id,
      )
      return registrations.ofIntent(intentId)
    }),
    localEndpoint(listRegistrations, () => ({ registrations: registrations.list() })),
    localEndpoint(retryRegistration, ({ params }) => registrations.send(params.registrationId)),
  ]
}
