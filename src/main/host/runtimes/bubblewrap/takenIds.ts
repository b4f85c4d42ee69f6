import { findFreeBlock, type IdBlock } from './idBlocks.ts'
import type { SandboxName } from './machineFolder.ts'

/** Allocation of the host's user ids to machines, read from their folders once. */
export type IdAllocations = {
  /** Returns this many consecutive free ids of the pool. */
  take(name: SandboxName, count: number, pool?: IdBlock): Promise<IdBlock>
  /** They are another machine's from now on. */
  pass(from: SandboxName, to: SandboxName): void
  /** After its files are gone. */
  giveBack(name: SandboxName): void
}

/** @param stored those of the machines that are stored */
export function listUsedIds(stored: () => Promise<[SandboxName, IdBlock][]>): IdAllocations {
  const allocated = new Map<SandboxName, IdBlock>()
  let reading: Promise<void> | undefined
  const read = (): Promise<void> => {
    reading ??= stored().then((stored) => {
      for (const [name, block] of stored) allocated.set(name, block)
    })
    reading.catch(() => {
      reading = undefined
    })
    return reading
  }
  return {
    async take(name, count, pool) {
      await read()
      const block = findFreeBlock(count, [...allocated.values()], pool)
      allocated.set(name, block)
      return block
    },
    pass(from, to) {
      const block = allocated.get(from)
      allocated.delete(from)
      if (block) allocated.set(to, block)
    },
    giveBack: (name) => void allocated.delete(name),
  }
}
