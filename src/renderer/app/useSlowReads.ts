import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { sandboxesKey } from '../api/sandboxes/useSandboxes.ts'
import { allTerminalsKey } from '../api/terminals/useTerminals.ts'

const slowMs = 3_000

/** Lists that the service serves from its database. Others may wait for a registrar or a chain. */
const quickKeys: readonly unknown[] = [sandboxesKey[0], allTerminalsKey[0]]

/** Whether the service has not returned a list for 3 s. */
export function useSlowReads(): boolean {
  const cache = useQueryClient().getQueryCache()
  const [isSlow, setSlow] = useState(false)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = () => {
      const isReading = cache
        .getAll()
        .some(({ queryKey, state }) => quickKeys.includes(queryKey[0]) && state.fetchStatus === 'fetching')
      if (isReading) {
        timer ??= setTimeout(() => setSlow(true), slowMs)
        return
      }
      clearTimeout(timer)
      timer = undefined
      setSlow(false)
    }
    look()
    const unsubscribe = cache.subscribe(look)
    return () => {
      unsubscribe()
      clearTimeout(timer)
    }
  }, [cache])
  return isSlow
}
