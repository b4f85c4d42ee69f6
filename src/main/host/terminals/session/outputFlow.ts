import type { SandboxTerminal } from '../../runtimes/sandboxRuntime.ts'
import { createBackPressure } from './backPressure.ts'
import type { TerminalOutput } from './outputHistory.ts'
import type { ScreenFeed } from './screenFeed.ts'
import type { SessionViewers } from './sessionViewers.ts'

/** Distributes the output of a program to the viewers, the screen and the disk. */
export type OutputFlow = {
  /** Distributes new output, then balances. */
  flush(): void
  /** Pauses the program for slow consumers, and frees output that all consumers have processed. */
  balance(): void
  /** From the next balance, retains only output that a consumer has not processed. */
  retainUnusedOnly(): void
}

type FlowOptions = {
  program: SandboxTerminal | undefined
  output: Pick<TerminalOutput, 'memory' | 'file'>
  feed: ScreenFeed
  viewers: SessionViewers
  /** Called after each flush has reached all consumers. */
  onFlushed: () => void
}

/** Bytes of raw output in memory. Older output is read from disk. */
const memoryBytes = 1024 * 1024
/** Maximum lag of each consumer before the program is paused, in bytes. A screen needs only the end of a flood. */
const maxLag = { screen: 4 * 1024 * 1024, viewer: 8 * 1024 * 1024, disk: 4 * 1024 * 1024 }

export function createOutputFlow({ program, output, feed, viewers, onFlushed }: FlowOptions): OutputFlow {
  const { memory, file } = output
  const demand = createBackPressure(program)
  let inMemoryBytes = memoryBytes

  const balance = (): void => {
    const screen = { lag: memory.end - feed.parsed, allowed: maxLag.screen }
    const disk = { lag: memory.end - file.end, allowed: maxLag.disk }
    const nexts = viewers.listCursors()
    demand([screen, disk, ...nexts.map((next) => ({ lag: memory.end - next, allowed: maxLag.viewer }))])
    memory.forget(Math.min(memory.end - inMemoryBytes, feed.sent, file.end, ...nexts))
  }

  return {
    balance,
    flush() {
      viewers.pump()
      feed.pump()
      file.pump()
      onFlushed()
      balance()
    },
    retainUnusedOnly() {
      inMemoryBytes = 0
    },
  }
}
