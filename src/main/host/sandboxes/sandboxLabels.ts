import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { removeFile, replaceFile } from '#platform/files/replaceFile.ts'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import { SandboxLabel } from '#shared/contract/hostIpc.ts'
import type { SandboxId } from '#shared/ids.ts'

/** Labels of sandboxes, one file each. A label persists until its sandbox is deleted. */
export type SandboxLabels = {
  /** Writes only files whose content has changed. */
  save(label: SandboxLabel): Promise<void>
  /** @returns undefined if the label is missing or belongs to another sandbox */
  find(id: SandboxId): Promise<SandboxLabel | undefined>
  remove(id: SandboxId): Promise<void>
}

export function createSandboxLabels(folder: string): SandboxLabels {
  const getFile = (id: SandboxId): string => join(folder, `${id}.json`)
  const read = (id: SandboxId): Promise<string | undefined> => readFile(getFile(id), 'utf8').catch(() => undefined)

  return {
    async save(label) {
      const text = `${JSON.stringify(label)}\n`
      if ((await read(label.id)) !== text) await replaceFile(getFile(label.id), text)
    },
    async find(id) {
      const text = await read(id)
      const { data } = SandboxLabel.safeParse(text === undefined ? undefined : parseJsonOrUndefined(text))
      return data?.id === id ? data : undefined
    },
    async remove(id) {
      if ((await read(id)) !== undefined) await removeFile(getFile(id))
    },
  }
}
