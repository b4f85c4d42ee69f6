import { useState } from 'react'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { useRunningPrograms } from '../../features/terminals/closing/useRunningPrograms.ts'
import type { PortRequest } from './useSandboxLinks.ts'

export type ScreenDialog =
  | { kind: 'create' | 'images' | 'search' }
  | { kind: 'run' | 'delete' | 'rename' | 'snapshot'; sandbox: Sandbox }
  | { kind: 'expose'; sandbox: Sandbox; request: PortRequest }
  | { kind: 'stop'; sandbox: Sandbox; programs: readonly string[] }

export type ScreenDialogState = {
  dialog: ScreenDialog | undefined
  openDialog(dialog: ScreenDialog): void
  closeDialog(): void
  /** Asks for confirmation even if no program is running. */
  askToStop(sandbox: Sandbox): void
  /** Stops the sandbox. Asks for confirmation only if a program other than the shell is running. */
  stopUnlessBusy(sandbox: Sandbox): void
}

export function useScreenDialog(stop: (sandbox: Sandbox) => Promise<void>): ScreenDialogState {
  const runningPrograms = useRunningPrograms()
  const [dialog, setDialog] = useState<ScreenDialog>()
  const askToStop = async (sandbox: Sandbox) =>
    setDialog({ kind: 'stop', sandbox, programs: (await runningPrograms(sandbox)) ?? [] })
  const stopUnlessBusy = async (sandbox: Sandbox) => {
    const programs = await runningPrograms(sandbox)
    if (programs?.length === 0) await stop(sandbox)
    else setDialog({ kind: 'stop', sandbox, programs: programs ?? [] })
  }
  return {
    dialog,
    openDialog: setDialog,
    closeDialog: () => setDialog(undefined),
    askToStop: (sandbox) => void askToStop(sandbox),
    stopUnlessBusy: (sandbox) => void stopUnlessBusy(sandbox),
  }
}
