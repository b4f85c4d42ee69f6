export type ProgramWatch = {
  /** Records input or output, after which a different program may be in the foreground. */
  recordOutput(): void
  close(): void
}

type ProgramWatchOptions = {
  read: () => Promise<string | undefined>
  onProgram: (name: string | null) => void
  settleMs?: number
  restMs?: number
}

/**
 * Number of reads after output. A second read is needed because a program may start after its command line was printed
 * and print nothing itself.
 */
const readsAfterOutput = 2

/**
 * Reads the name of the foreground program once output settles, and again a moment later. Reads at intervals during a
 * flood, and never while idle.
 */
export function createProgramWatch({
  read,
  onProgram,
  settleMs = 150,
  restMs = 1_000,
}: ProgramWatchOptions): ProgramWatch {
  let lastName: string | null = null
  let state: 'idle' | 'waiting' | 'reading' | 'resting' | 'closed' = 'idle'
  let looks = 0
  let timer: NodeJS.Timeout | undefined

  const wait = (next: 'waiting' | 'resting', ms: number, then: () => void): void => {
    state = next
    timer = setTimeout(then, ms).unref()
  }
  const look = async (): Promise<void> => {
    state = 'reading'
    looks -= 1
    const name = (await read().catch(() => undefined)) ?? null
    if (isClosed()) return
    if (name !== lastName) onProgram(name)
    lastName = name
    wait('resting', restMs, onQuiet)
  }
  const onQuiet = (): void => {
    state = 'idle'
    if (looks > 0) void look()
  }
  const isClosed = (): boolean => state === 'closed'

  return {
    recordOutput() {
      looks = readsAfterOutput
      if (state === 'idle') wait('waiting', settleMs, () => void look())
    },
    close() {
      state = 'closed'
      clearTimeout(timer)
    },
  }
}
