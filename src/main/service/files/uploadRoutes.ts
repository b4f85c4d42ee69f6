import { AppError } from '#shared/appError.ts'
import {
  appendUpload,
  beginUpload,
  cancelUpload,
  getUpload,
  type Upload,
  uploadLimits,
  uploadOffsetHeader,
} from '#shared/contract/uploads.ts'
import { toIsoTime } from '#shared/time.ts'
import { createEndpoint, createRawEndpoint, type Endpoint, withWork } from '../base/endpoint.ts'
import type { SandboxRegistry } from '../sandboxes/sandboxRegistry.ts'
import type { UploadRecord } from './uploadRepository.ts'
import type { Uploads } from './uploads.ts'

type Options = { sandboxes: Pick<SandboxRegistry, 'requireOwned' | 'running'>; uploads: Uploads }

export function createUploadRoutes({ sandboxes, uploads }: Options): Endpoint[] {
  return [
    createEndpoint(beginUpload, async ({ params, body }, { caller }) =>
      uploadToWire(await uploads.begin((await sandboxes.running(caller, params.id)).id, body)),
    ),
    withWork(
      'upload',
      createRawEndpoint(appendUpload, async ({ params }, { caller, headers, body, signal, setHeader }) => {
        const record = await uploads.get((await sandboxes.running(caller, params.id)).id, params.uploadId)
        const offset = parseOffset(headers[uploadOffsetHeader.toLowerCase()])
        const setOffset = ({ received }: UploadRecord) => setHeader(uploadOffsetHeader, String(received))
        setOffset(record)
        const now = await uploads.append(record, { offset, body, signal })
        setOffset(now)
        return uploadToWire(now)
      }),
    ),
    createEndpoint(getUpload, async ({ params }, { caller }) =>
      uploadToWire(await uploads.get((await sandboxes.requireOwned(caller, params.id)).id, params.uploadId)),
    ),
    createEndpoint(cancelUpload, async ({ params }, { caller }) => {
      const record = await uploads.get((await sandboxes.running(caller, params.id)).id, params.uploadId)
      await uploads.cancel(record)
      return { success: true, message: `Cancelled the upload of ${record.path}.` }
    }),
  ]
}

function uploadToWire({ id, path, size, received, complete, touchedAtMs }: UploadRecord): Upload {
  return {
    upload_id: id,
    path,
    size,
    offset: received,
    complete,
    chunk_bytes: uploadLimits.chunkBytes,
    expires_at: toIsoTime(touchedAtMs + uploadLimits.ttlMs),
  }
}

function parseOffset(header: string | string[] | undefined): number {
  if (typeof header === 'string' && /^\d{1,15}$/.test(header)) return Number(header)
  throw new AppError('request/invalid', `The header \`${uploadOffsetHeader}\` must be a whole number of bytes.`)
}
