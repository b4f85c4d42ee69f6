import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { listProcesses } from '#shared/contract/processes.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { listTerminals } from '#shared/contract/terminals.ts'
import { readPreferences } from '../view/preferences/preferencesStore.ts'
import { listRunning } from './runningIn.ts'

const lookMs = 3_000

/**
 * Returns a function that lists the programs that stopping a sandbox would terminate. It resolves to undefined if they
 * are unknown.
 */
export function useRunningPrograms(): (sandbox: Sandbox) => Promise<string[] | undefined> {
  const agent = useAgent()
  return async ({ id }) => {
    if (!readPreferences().closeWarning) return []
    const signal = AbortSignal.timeout(lookMs)
    try {
      const [{ sessions }, { processes }] = await Promise.all([
        agent(listTerminals, { id }, { signal }),
        agent(listProcesses, { id }, { signal }),
      ])
      return listRunning(sessions, processes)
    } catch {
      return undefined
    }
  }
}
