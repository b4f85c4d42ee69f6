import { useQueryClient } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { patchFromEvent } from '#renderer/api/eventPatch.ts'
import { type TerminalList, withName, withNewTerminal, withTitle } from '#renderer/api/terminals/terminalList.ts'
import { terminalsKey } from '#renderer/api/terminals/useTerminals.ts'
import { notify } from '#renderer/ui/toast.tsx'
import { AppError } from '#shared/appError.ts'
import type { Input } from '#shared/contract/route.ts'
import { changeTerminal, closeTerminal, createTerminal, type Terminal } from '#shared/contract/terminals.ts'
import type { SandboxId, TerminalId } from '#shared/ids.ts'
import type { TerminalSize } from '../stream/terminalScreen.ts'

/** Login shell, so that the profile sets the usual paths and prompt. */
export const shellCommand = 'bash -l'

/** Directory of another terminal's foreground program, or `cwd` if it is unknown. */
export type StartDirectory = { cwdOf?: TerminalId | undefined; cwd?: string | undefined }

export type NewTerminal = StartDirectory & { command: string; size?: TerminalSize | undefined }

export type TerminalActions = {
  /** Rejects with the error, for the caller to report. */
  create(sandboxId: SandboxId, terminal: NewTerminal): Promise<Terminal>
  /** Closes a terminal and reports errors. @returns false if it is still running */
  close(terminal: Terminal): Promise<boolean>
  retitle(terminal: Terminal, title: string | null): void
  /** Applies the name immediately, and reports an error if it cannot be saved. */
  rename(terminal: Terminal, name: string | null): Promise<void>
}

export function useTerminalActions(): TerminalActions {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const patch = (sandboxId: SandboxId, change: (list: TerminalList) => TerminalList) =>
    patchFromEvent<TerminalList>(queryClient, terminalsKey(sandboxId), change)
  return {
    async create(sandboxId, { command, cwd, cwdOf, size }) {
      const input: Input<typeof createTerminal> = {
        id: sandboxId,
        command,
        ...(cwd && { cwd }),
        ...(cwdOf && { cwd_of: cwdOf }),
        ...size,
      }
      const created = await agent(createTerminal, input)
      patch(sandboxId, (list) => withNewTerminal(list, created))
      return created
    },
    async close(terminal) {
      if (terminal.state === 'exited') return true
      try {
        await agent(closeTerminal, { id: terminal.sandbox_id, sessionId: terminal.session_id })
        return true
      } catch (error) {
        if (error instanceof AppError && error.code === 'terminal/not-found') return true
        notify.failed(error, { title: 'Could not close the terminal' })
        return false
      }
    },
    async rename(terminal, name) {
      const show = (visibleId: string | null) =>
        patch(terminal.sandbox_id, (list) => withName(list, terminal.session_id, visibleId))
      show(name)
      try {
        await agent(changeTerminal, { id: terminal.sandbox_id, sessionId: terminal.session_id, name })
      } catch (error) {
        show(terminal.name)
        notify.failed(error, { title: 'Could not rename the terminal' })
      }
    },
    retitle: (terminal, title) => patch(terminal.sandbox_id, (list) => withTitle(list, terminal.session_id, title)),
  }
}
