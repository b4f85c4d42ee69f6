import type { ApiClient } from '#renderer/api/agentClient.ts'
import { readFile, statFile } from '#shared/contract/files.ts'
import { appendUpload, beginUpload, uploadLimits, uploadOffsetHeader } from '#shared/contract/uploads.ts'
import type { SandboxId } from '#shared/ids.ts'
import { getBasename } from '../paths.ts'
import { isImage } from './fileKind.ts'

export type OpenedFile = { size: number; version: string } & (
  | { kind: 'text'; text: string }
  | { kind: 'image' }
  | { kind: 'binary' }
  | { kind: 'large' }
)

/** Maximum size of an editable file. Larger files are slow to edit. */
export const maxTextBytes = 2 * 1024 * 1024

export async function openFile(
  agent: ApiClient,
  id: SandboxId,
  path: string,
  signal?: AbortSignal,
): Promise<OpenedFile> {
  const options = signal ? { signal } : {}
  // Read before the content, so that a change in between is detected on saving.
  const { size, version } = await agent(statFile, { id, path, follow: true }, options)
  if (isImage(getBasename(path))) return { kind: 'image', size, version }
  if (size > maxTextBytes) return { kind: 'large', size, version }
  const { content, encoding } = await agent(readFile, { id, path }, options)
  if (encoding !== 'utf8' || content.includes('\0')) return { kind: 'binary', size, version }
  return { kind: 'text', text: content, size, version }
}

/** `isNew` requires that no file exists at the path. */
type SavedText = { id: SandboxId; path: string; text: string; ifVersion: string | undefined; isNew?: boolean }

/**
 * Replaces the file atomically.
 * @param ifVersion required current version; undefined for any
 * @throws {AppError} `file/changed`, `file/no-space` and others
 */
export async function saveText(
  agent: ApiClient,
  { id, path, text, ifVersion, isNew = false }: SavedText,
): Promise<string> {
  const all = new Blob([text])
  const upload = {
    id,
    path,
    size: all.size,
    replace: !isNew,
    ...(ifVersion !== undefined && { if_version: ifVersion }),
  }
  let { upload_id: uploadId, offset, complete } = await agent(beginUpload, upload)
  while (!complete) {
    const bytes = all.slice(offset, offset + uploadLimits.chunkBytes)
    const headers = { [uploadOffsetHeader]: String(offset) }
    ;({ offset, complete } = await agent(appendUpload, { id, uploadId }, { bytes, headers }))
  }
  return (await agent(statFile, { id, path, follow: true })).version
}
