import { type QueryClient, useQuery } from '@tanstack/react-query'
import { type AutomatonRegistration, listAutomatons, listRegistrations } from '#shared/contract/automatons.ts'
import type { LocalEventOf } from '#shared/contract/localApi.ts'
import { useAgent } from '../../api/AgentProvider.tsx'
import { patchAndRefetch } from '../../api/readAgain.ts'
import { mergeIdentities, withRegistration } from './identityList.ts'

export const registrationsKey = ['identity', 'registrations'] as const
export const automatonsKey = ['identity', 'automatons'] as const

/**
 * Reads the identities on each mount. Always includes registrations made here; the service's
 * data is added when it responds.
 */
export function useIdentities() {
  const agent = useAgent()
  const here = useQuery({
    queryKey: registrationsKey,
    queryFn: async ({ signal }) => (await agent(listRegistrations, {}, { signal })).registrations,
    staleTime: 0,
  })
  const automatons = useQuery({
    queryKey: automatonsKey,
    queryFn: async ({ signal }) => (await agent(listAutomatons, {}, { signal })).automatons,
    staleTime: 0,
  })
  const retry = () => {
    void here.refetch()
    void automatons.refetch()
  }
  return {
    identities: here.data && mergeIdentities(here.data, automatons.data ?? []),
    isPending: here.isPending,
    error: here.data ? undefined : (here.error ?? undefined),
    /** Error of the service, in which case the list may be incomplete. */
    serviceError: automatons.data ? undefined : (automatons.error ?? undefined),
    retry,
  }
}

export function patchRegistrations(
  queryClient: QueryClient,
  { registration }: LocalEventOf<'registration.changed'>,
): void {
  void patchAndRefetch<AutomatonRegistration[]>(queryClient, registrationsKey, (list) =>
    withRegistration(list, registration),
  )
}
