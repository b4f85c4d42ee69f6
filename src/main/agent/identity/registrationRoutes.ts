import {
  listRegistrations,
  previewRegistration,
  retryRegistration,
  startRegistration,
} from '../../../shared/contract/automatons.ts'
import { type LocalEndpoint, localEndpoint } from '../api/localEndpoint.ts'
import type { Registrations } from './registrations.ts'

export function registrationRoutes(registrations: Registrations): LocalEndpoint[] {
  return [
    localEndpoint(previewRegistration, ({ body }) => registrations.preview(body)),
    localEndpoint(startRegistration, ({ body: { reason, ...draft } }, { asker }) =>
      registrations.start(draft, { asker, reason }),
    ),
    localEndpoint(listRegistrations, () => ({ registrations: registrations.list() })),
    localEndpoint(retryRegistration, ({ params }) => registrations.send(params.registrationId)),
  ]
}
