import { useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { readAgain } from '#renderer/api/readAgain.ts'
import type { Input, Output, Route } from '#shared/contract/route.ts'
import { creditsKey } from '../useCredits.ts'

/**
 * Returns a function that transfers credits at most once. A retry with the same input after a lost response reuses the
 * `Idempotency-Key`; different input uses a new one.
 */
export function useGiving<R extends Route>(route: R): (input: Input<R>) => Promise<Output<R>> {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const last = useRef<{ request: string; key: string }>(undefined)
  return async (input) => {
    const requested = JSON.stringify(input)
    if (last.current?.request !== requested) last.current = { request: requested, key: crypto.randomUUID() }
    const answer = await agent(route, input, { headers: { 'idempotency-key': last.current.key } })
    void readAgain(queryClient, creditsKey)
    return answer
  }
}
