import { useState } from 'react'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { useRunningPrograms } from '../../features/terminals/closing/useRunningPrograms.ts'
import type { PortRequest } from './useSandboxLinks.ts'

type ScreenDialog =
  | { kind: 'create' | 'images' | 'search' }
  | { kind: 'run' | 'delete' | 'rename' | 'snapshot'; sandbox: Sandbox }
  | { kind: 'expose'; sandbox: Sandbox; request: PortRequest }
  | { kind: 'stop'; sandbox: Sandbox; programs: readonly string[] }

/** At most one dialog is open. */
export type ScreenDialogs = {
  current: ScreenDialog | undefined
  open(dialog: ScreenDialog): void
  close(): void
  /** Asks for confirmation even if no program is running. */
  confirmStop(sandbox: Sandbox): void
  /** Stops the sandbox. Asks for confirmation only if a program other than the shell is running. */
  stopUnlessBusy(sandbox: Sandbox): void
}

export function useScreenDialogs(stop: (sandbox: Sandbox) => Promise<void>): ScreenDialogs {
  const runningPrograms = useRunningPrograms()
  const [current, setCurrent] = useState<ScreenDialog>()
  const confirmStop = async (sandbox: Sandbox) =>
    setCurrent({ kind: 'stop', sandbox, programs: (await runningPrograms(sandbox)) ?? [] })
  const stopUnlessBusy = async (sandbox: Sandbox) => {
    const programs = await runningPrograms(sandbox)
    if (programs?.length === 0) await stop(sandbox)
    else setCurrent({ kind: 'stop', sandbox, programs: programs ?? [] })
  }
  return {
    current,
    open: setCurrent,
    close: () => setCurrent(undefined),
    confirmStop: (sandbox) => void confirmStop(sandbox),
    stopUnlessBusy: (sandbox) => void stopUnlessBusy(sandbox),
  }
}
