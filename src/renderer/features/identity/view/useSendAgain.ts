import { useMutation } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import { retryRegistration } from '#shared/contract/automatons.ts'

/** The outcome arrives by events. */
export function useSendAgain(registrationId: string): { send: () => void; busy: boolean } {
  const agent = useAgent()
  const { mutate, isPending } = useMutation({
    mutationFn: () => agent(retryRegistration, { registrationId }),
    onSuccess: ({ state, detail }) => {
      if (state === 'sending' && detail !== null) notify.info('Not delivered yet', { hint: detail })
    },
    onError: (error) => notify.failed(error, { title: 'Could not send it again' }),
  })
  return { send: () => mutate(), busy: isPending }
}
