import { z } from 'zod'
import { UploadId } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { SandboxPath } from './files.ts'
import { defineRoute } from './route.ts'
import { SandboxParams } from './sandboxes.ts'

/** Limits of resumable uploads. */
export const uploadLimits = {
  maxBytes: 50 * 1024 ** 3,
  /** Maximum number of incomplete uploads per sandbox. */
  perSandbox: 64,
  /** Recommended chunk size. Small, so that a lost connection costs little. */
  chunkBytes: 8 * 1024 * 1024,
  /** Maximum size of one request. */
  maxChunkBytes: 64 * 1024 * 1024,
  /** Time to live of an incomplete upload after its last received byte. */
  ttlMs: 24 * 3600 * 1000,
} as const

/** Header with the offset of a chunk, in bytes. */
export const uploadOffsetHeader = 'Upload-Offset'

/** Resumable upload of a file. Sizes are in bytes. */
export const Upload = z.object({
  upload_id: UploadId,
  path: z.string(),
  size: z.int(),
  /** Received bytes. The next request starts at this offset. */
  offset: z.int(),
  /** Whether the file is complete and moved to its path. */
  complete: z.boolean(),
  chunk_bytes: z.int(),
  expires_at: IsoTime,
})
export type Upload = z.infer<typeof Upload>

const UploadParams = SandboxParams.extend({ uploadId: UploadId })
const wholeSize = 'must be a whole number of bytes, at most 50 GiB'

/** Begins an upload like https://tus.io/protocols/resumable-upload, with JSON responses. */
export const beginUpload = defineRoute({
  operation: 'uploadBegin',
  method: 'POST',
  path: '/v1/sandboxes/:id/files/uploads',
  summary: 'Create a resumable file upload',
  description: `Accepts up to ${uploadLimits.maxBytes / 1024 ** 3} GiB, and ${uploadLimits.perSandbox} incomplete uploads per sandbox (429 \`upload/too-many\`). Expires ${uploadLimits.ttlMs / 3_600_000} hours after the last received byte. Fails with 409 \`file/exists\` unless \`replace\` is set, or 409 \`file/changed\`.`,
  example: { path: '/root/big.bin', size: 16_000_000 },
  tag: 'Files',
  refusals: [507],
  params: SandboxParams,
  body: z.object({
    path: SandboxPath,
    size: z.int(wholeSize).min(0, wholeSize).max(uploadLimits.maxBytes, wholeSize),
    modified_at: z.iso.datetime({ offset: true }).optional(),
    /** Whether the upload replaces an existing file on completion. The new file has the mode of the old one. */
    replace: z.boolean().default(false),
    /** Version (`fileStat`) that the existing file must still have on completion. */
    if_version: z.string().max(200).optional(),
    /** Hexadecimal SHA-256 of the whole file, verified before it is moved to its path. */
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hexadecimal characters')
      .optional(),
  }),
  response: Upload,
  status: 201,
  idempotent: true,
})

export const appendUpload = defineRoute({
  operation: 'uploadAppend',
  method: 'PATCH',
  path: '/v1/sandboxes/:id/files/uploads/:uploadId',
  summary: 'Append the next chunk to an upload',
  description: `Accepts ${uploadLimits.maxChunkBytes / 1024 ** 2} MiB per request. Bytes received before a connection is lost count. The last chunk moves the file into place; an empty request retries a failed move. Fails with 409 \`upload/offset\`, or \`upload/checksum\`, which removes the upload.`,
  tag: 'Files',
  refusals: [507],
  params: UploadParams,
  response: Upload,
  maxBodyBytes: uploadLimits.maxChunkBytes,
  raw: {
    request: 'application/octet-stream',
    headers: {
      [uploadOffsetHeader]: {
        description:
          'Offset of the chunk. If it differs from the offset of the upload, the response is 409 and contains the expected offset.',
        required: true,
      },
    },
  },
})

export const getUpload = defineRoute({
  operation: 'uploadGet',
  method: 'GET',
  path: '/v1/sandboxes/:id/files/uploads/:uploadId',
  summary: 'Get the progress of an upload',
  description:
    'After a lost connection, continue from `offset`. Works even while the sandbox is stopped. Fails with 404 `upload/not-found` after the upload is canceled or has expired and been removed.',
  tag: 'Files',
  params: UploadParams,
  response: Upload,
})

export const cancelUpload = defineRoute({
  operation: 'uploadCancel',
  method: 'DELETE',
  path: '/v1/sandboxes/:id/files/uploads/:uploadId',
  summary: 'Cancel an upload',
  description:
    'Removes the received bytes. A file that is already complete remains. Fails with 404 `upload/not-found` if repeated, or 409 `sandbox/not-running`.',
  tag: 'Files',
  params: UploadParams,
  response: z.object({ success: z.literal(true), message: z.string() }),
})
