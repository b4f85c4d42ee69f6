import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { AppError } from '#shared/appError.ts'
import { createSerialQueue } from '../concurrency/serialQueue.ts'
import { removeFile, replaceFile } from '../files/replaceFile.ts'
import { parseJsonOrUndefined } from '../parsing/parseJsonOrUndefined.ts'
import type { SecretStore } from './secretStore.ts'

const VaultFile = z.strictObject({ version: z.literal(1), entries: z.record(z.string(), z.string()) })
type Entries = z.infer<typeof VaultFile>['entries']

const maxCharacters = 1024 * 1024

/** Creates a secret store in one JSON file, which is replaced atomically and removed with its last entry. */
export function createVaultFileSecretStore({ file }: { file: string }): SecretStore {
  const runExclusive = createSerialQueue()
  const change = (how: (entries: Entries) => Entries): Promise<void> =>
    runExclusive(async () => {
      const before = await readEntries(file)
      const entries = how(before)
      if (entries !== before) await writeEntries(file, entries)
    })

  return {
    kind: 'vault_file',
    detail: `The encrypted secrets are in ${file}.`,
    fault: async () => undefined,
    read: (name) => runExclusive(async () => new Map(Object.entries(await readEntries(file))).get(name)),
    write: (name, value) => change((entries) => ({ ...entries, [name]: value })),
    remove: (name) =>
      change((entries) => {
        if (!Object.hasOwn(entries, name)) return entries
        return Object.fromEntries(Object.entries(entries).filter(([key]) => key !== name))
      }),
  }
}

async function readEntries(file: string): Promise<Entries> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return {}
    throw createUnusableError(file, 'read', cause)
  }
  // Omits the cause, because it would quote the file.
  const parsed = VaultFile.safeParse(text.length > maxCharacters ? undefined : parseJsonOrUndefined(text))
  if (parsed.success) return parsed.data.entries
  throw new AppError('wallet/damaged', `The vault file ${file} is not valid.`)
}

async function writeEntries(file: string, entries: Entries): Promise<void> {
  try {
    if (Object.keys(entries).length === 0) await removeFile(file)
    else await replaceFile(file, `${JSON.stringify({ version: 1, entries }, null, 2)}\n`)
  } catch (cause) {
    throw createUnusableError(file, 'written', cause)
  }
}

function createUnusableError(file: string, how: 'read' | 'written', cause: unknown): AppError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new AppError('wallet/failed', `The vault file ${file} could not be ${how}: ${reason}.`, { cause })
}
