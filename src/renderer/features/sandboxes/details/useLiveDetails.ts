import { useQueryClient } from '@tanstack/react-query'
import { useLiveEvent } from '#renderer/api/liveEvents.ts'
import { readAgain } from '#renderer/api/readAgain.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { portsKey } from './ports/usePorts.ts'

/** Reads again, by events, what was read of one sandbox and is not polled. */
export function useLiveDetails({ id }: Sandbox): void {
  const queryClient = useQueryClient()
  useLiveEvent((event) => {
    const ready = event.type === 'ready'
    if (ready || (event.type === 'sandbox.changed' && event.sandbox.id === id)) {
      void readAgain(queryClient, portsKey(id))
    }
  })
}
