import { useState } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { listProcesses } from '#shared/contract/processes.ts'
import type { Terminal } from '#shared/contract/terminals.ts'
import { readPreferences } from '../view/preferences/preferencesStore.ts'
import type { TerminalSession } from '../view/terminalSession.ts'
import { findProgram, hasRunningProgram, type RunningProgram } from './runningProgram.ts'

/** Timeout for listing processes before a tab closes, in milliseconds. After it, the user is asked for confirmation. */
const processListTimeoutMs = 3_000

export type Closing = {
  /** Terminals to close once the user confirms. */
  request: { terminals: readonly Terminal[]; programs: readonly RunningProgram[] } | undefined
  close(terminals: readonly Terminal[]): void
  answer(goesOn: boolean): void
}

type Options = {
  sessionOf: (terminalId: string) => Pick<TerminalSession, 'commands'> | undefined
  close: (terminals: readonly Terminal[]) => void
}

/** Closes terminals. Asks for confirmation if a program other than the shell would be terminated. */
export function useClosing({ sessionOf, close }: Options): Closing {
  const agent = useAgent()
  const [question, setQuestion] = useState<Closing['request']>()

  const findRunningProgram = async (terminal: Terminal): Promise<RunningProgram | undefined> => {
    const program = findProgram(terminal, sessionOf(terminal.session_id)?.commands)
    if (program !== 'unknown') return program === 'none' ? undefined : program
    try {
      const signal = AbortSignal.timeout(processListTimeoutMs)
      const { processes } = await agent(listProcesses, { id: terminal.sandbox_id }, { signal })
      return hasRunningProgram(terminal, processes) ? { terminal, command: '' } : undefined
    } catch {
      return { terminal, command: '' } // unknown, so a program may be running
    }
  }

  return {
    request: question,
    async close(terminals) {
      const running = readPreferences().closeWarning ? await Promise.all(terminals.map(findRunningProgram)) : []
      const programs = running.flatMap((it) => it ?? [])
      if (programs.length > 0) setQuestion({ terminals, programs })
      else close(terminals)
    },
    answer(goesOn) {
      if (goesOn && question) close(question.terminals)
      setQuestion(undefined)
    },
  }
}
