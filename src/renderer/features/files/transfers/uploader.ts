import type { ApiClient } from '#renderer/api/agentClient.ts'
import { appendUpload, beginUpload, cancelUpload, getUpload, uploadOffsetHeader } from '#shared/contract/uploads.ts'
import type { SandboxId, UploadId } from '#shared/ids.ts'
import type { Transfer, TransferList } from './transferList.ts'

export type Uploader = {
  /** Sends a file from the offset that the service reports, until the upload is complete. */
  send(id: string, file: File, signal: AbortSignal): Promise<void>
  cancel(uploadId: UploadId | undefined): void
}

export type UploaderOptions = {
  sandboxId: SandboxId
  agent: ApiClient
  onDone: (transfer: Transfer) => void
  now: () => number
}

/** Chunk size of uploads, small enough for smooth progress. */
const chunkBytes = 2 * 1024 * 1024

/** Uploads files of `transfers` and updates their progress. */
export function createUploader(transfers: TransferList, { sandboxId, agent, onDone, now }: UploaderOptions): Uploader {
  const { find, change } = transfers

  /** Not aborted, because the id of a created upload must be known. */
  const begin = ({ path, size, modifiedAtMs, replace }: Transfer) => {
    const modified_at = new Date(modifiedAtMs).toISOString()
    return agent(beginUpload, { id: sandboxId, path, size, modified_at, replace })
  }

  const cancel = (uploadId: UploadId | undefined): void => {
    // Best effort, because the service drops an upload after a day.
    if (uploadId !== undefined) agent(cancelUpload, { id: sandboxId, uploadId }).catch(() => {})
  }

  return {
    async send(id, file, signal) {
      const transfer = find(id)
      if (!transfer) return
      const serverId = transfer.uploadId
      const upload =
        serverId === undefined
          ? await begin(transfer)
          : await agent(getUpload, { id: sandboxId, uploadId: serverId }, { signal })
      const uploadId = upload.upload_id
      let { offset, complete } = upload
      change(id, { uploadId, sent: offset })
      if (!find(id)) cancel(uploadId) // canceled concurrently
      signal.throwIfAborted()
      change(id, { state: 'sending' })
      while (!complete) {
        const startedAtMs = now()
        const bytes = file.slice(offset, offset + chunkBytes)
        const headers = { [uploadOffsetHeader]: String(offset) }
        const response = await agent(appendUpload, { id: sandboxId, uploadId }, { signal, bytes, headers })
        const seconds = Math.max(1, now() - startedAtMs) / 1000
        const present = (response.offset - offset) / seconds
        const before = find(id)?.bytesPerSecond ?? 0
        ;({ offset, complete } = response)
        change(id, { sent: offset, bytesPerSecond: before === 0 ? present : before * 0.7 + present * 0.3 })
      }
      change(id, { state: 'done', bytesPerSecond: 0, file: undefined })
      const done = find(id)
      if (done) onDone(done)
    },
    cancel,
  }
}
