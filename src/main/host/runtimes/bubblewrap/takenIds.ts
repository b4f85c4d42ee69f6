import { findFreeBlock, type IdBlock } from './idBlocks.ts'
import type { SandboxName } from './sandboxFolder.ts'

/** Allocation of host uids to sandboxes. Read from their folders once. */
export type IdAllocations = {
  /** Allocates consecutive free ids of the pool. */
  take(name: SandboxName, count: number, pool?: IdBlock): Promise<IdBlock>
  /** Transfers the ids to another sandbox. */
  pass(from: SandboxName, to: SandboxName): void
  /** Releases the ids. Called after the files are removed. */
  giveBack(name: SandboxName): void
}

/** @param stored returns the ids of all stored sandboxes */
export function createIdAllocations(stored: () => Promise<[SandboxName, IdBlock][]>): IdAllocations {
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
