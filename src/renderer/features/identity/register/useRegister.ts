import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { patchAndRefetch } from '#renderer/api/readAgain.ts'
import { goTo } from '#renderer/ui/route.ts'
import { type AutomatonRegistration, previewRegistration, startRegistration } from '#shared/contract/automatons.ts'
import type { Input, Output } from '#shared/contract/route.ts'
import { withRegistration } from '../identityList.ts'
import { registrationsKey } from '../useIdentities.ts'
import type { RegistrationInput } from './registerForm.ts'

export type Preview = Output<typeof previewRegistration>

export function useRegister({ onSubmitted }: { onSubmitted: () => void }) {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>()

  const attempt = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    setBusy(true)
    setFailure(undefined)
    try {
      return await work()
    } catch (refusal) {
      setFailure(refusal)
      return undefined
    } finally {
      setBusy(false)
    }
  }
  return {
    busy,
    failure,
    /**
     * Returns the content for review.
     * @returns undefined if the request was rejected; `failure` then contains the reason
     */
    show: (input: RegistrationInput) => attempt(() => agent(previewRegistration, input)),
    /** Starts the registration and navigates to its progress. */
    ask: (input: Input<typeof startRegistration>) =>
      attempt(async () => {
        const started = await agent(startRegistration, input)
        const patched = patchAndRefetch<AutomatonRegistration[]>(queryClient, registrationsKey, (list) =>
          withRegistration(list, started),
        )
        onSubmitted()
        goTo('identity', started.id)
        await patched
      }),
  }
}
