import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SandboxId } from '#shared/ids.ts'

/**
 * Identifies our objects on an engine that may be shared with others, including other Steward instances. All names
 * derive from a random name stored in this folder. Also stores the ids of our sandboxes, for use while the engine is
 * unavailable.
 */
export type Ownership = {
  /** Owner name, 16 hexadecimal characters. */
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

/** Created once. A concurrent process may create it first. */
function createSecretName(file: string): string {
  try {
    writeFileSync(file, randomBytes(16).toString('hex'), { flag: 'wx', mode: 0o600 })
  } catch {
    // Already exists, or reading it reports the error.
  }
  return readFileSync(file, 'utf8')
}

export const ownerLabel = 'steward.data'
export const sandboxLabel = 'steward.sandbox'
/** Label with the spec of the container, as JSON. */
export const specLabel = 'steward.spec'

export const toContainerName = (owner: string, id: SandboxId): string => `steward-${owner}-${id}`
/** Returns the repository name. Engines never pull from the registry `localhost`. */
export const toRepository = (owner: string): string => `localhost/steward-${owner}`
