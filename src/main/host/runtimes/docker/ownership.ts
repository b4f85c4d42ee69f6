import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SandboxId } from '#shared/ids.ts'

/**
 * Identifies our objects on an engine that is shared with others, including other instances of Steward: all names
 * derive from a random one of this folder. Stores the ids of our sandboxes as well, for when the engine is unavailable.
 */
export type Ownership = {
  /** 16 hexadecimal characters. */
  readonly owner: string
  note(id: SandboxId): Promise<void>
  forget(id: SandboxId): Promise<void>
  listRecorded(): Promise<SandboxId[]>
}

export function openOwnership(folder: string): Ownership {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return {
    owner: createHash('sha256')
      .update(createSecretName(join(folder, 'owner')))
      .digest('hex')
      .slice(0, 16),
    note: (id) => writeFile(join(folder, id), '', { mode: 0o600 }),
    forget: (id) => rm(join(folder, id), { force: true }),
    listRecorded: async () => (await readdir(folder)).flatMap((name) => SandboxId.safeParse(name).data ?? []),
  }
}

/** Created once; a concurrent process may win. */
function createSecretName(file: string): string {
  try {
    writeFileSync(file, randomBytes(16).toString('hex'), { flag: 'wx', mode: 0o600 })
  } catch {
    // It is there already, or reading it tells what is wrong.
  }
  return readFileSync(file, 'utf8')
}

export const ownerLabel = 'steward.data'
export const sandboxLabel = 'steward.sandbox'
/** Spec of the container, as JSON. */
export const specLabel = 'steward.spec'

export const toContainerName = (owner: string, id: SandboxId): string => `steward-${owner}-${id}`
/** `localhost` as the registry: no engine ever looks for it elsewhere. */
export const toRepository = (owner: string): string => `localhost/steward-${owner}`
