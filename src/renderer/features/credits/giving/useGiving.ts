import { useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { readAgain } from '#renderer/api/readAgain.ts'
import type { Input, Output, Route } from '#shared/contract/route.ts'
import { creditsKey } from '../useCredits.ts'

/**
 * Moves credits once: asked for the same thing again, after an answer that was lost, it sends the same
 * `Idempotency-Key`. Something else is another request.
 */
export function useGiving<R extends Route>(route: R): (input: Input<R>) => Promise<Output<R>> {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const last = useRef<{ asked: string; key: string }>(undefined)
  return async (input) => {
    const asked = JSON.stringify(input)
    if (last.current?.asked !== asked) last.current = { asked, key: crypto.randomUUID() }
    const answer = await agent(route, input, { headers: { 'idempotency-key': last.current.key } })
    void readAgain(queryClient, creditsKey)
    return answer
  }
}
